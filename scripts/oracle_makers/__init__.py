"""What scripts/oracle_programs.py makes random programs of. The order of the imports is that of MAKERS, which a seed
chooses from."""
from oracle_makers import elementwise
from oracle_makers import data_movement
from oracle_makers import reductions
from oracle_makers import contractions
from oracle_makers import mathematics
from oracle_makers import control_flow
from oracle_makers import narrow_types
from oracle_makers import large_arrays
from oracle_makers import called_functions
from oracle_makers import mathematics_wide
from oracle_makers import control_flow_nested
