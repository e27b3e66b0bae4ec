// The error functions and the modified Bessel function, by rational approximations and series in two precisions.
#include "absl/types/span.h"
#include "kashi/stablehlo/conversion/chlo_functions.h"

namespace kashi::stablehlo {
namespace {

// ---- erfc ----------------------------------------------------------------------------------------------------------
//
// |x| < 1: 1 - erf(x). Else exp(-x^2) times a function of |x| by ranges, and 2 - that where x is negative.

// f32: polynomials. erf(x) / x in x^2; the others in 1 / x^2.
constexpr double kErfOverX32[] = {7.85386146e-05, -0.00080101937, 0.00518832775, -0.0268538129,
                                  0.112835854,    -0.37612626,    1.12837911};
constexpr double kErfcBelow2[] = {0.0232682,    -0.138703942, 0.368742466,  -0.582473278, 0.621000468,
                                  -0.494451523, 0.340488,     -0.274112701, 0.563825965};
constexpr double kErfcFrom2[] = {-10.477664,  12.9772,    -7.49551868,  2.92101908,
                                 -1.01526523, 0.42184633, -0.282076746, 0.564189494};

// f64: quotients of polynomials. erf(x) / x in x^2; the others in |x|.
constexpr double kErfNumerator[] = {9.604973739870516, 90.02601972038427, 2232.005345946843, 7003.325141128051,
                                    55592.30130103949};
constexpr double kErfDenominator[] = {
    1.0, 33.56171416475031, 521.3579497801527, 4594.323829709801, 22629.000061389095, 49267.39426086359};
constexpr double kErfcNumeratorBelow8[] = {2.461969814735305e-10, 0.5641895648310689, 7.463210564422699,
                                           48.63719709856814,     196.5208329560771,  526.4451949954773,
                                           934.5285271719576,     1027.5518868951572, 557.5353353693994};
constexpr double kErfcDenominatorBelow8[] = {1.0,
                                             13.228195115474499,
                                             86.70721408859897,
                                             354.9377788878199,
                                             975.7085017432055,
                                             1823.9091668790973,
                                             2246.3376081871097,
                                             1656.6630919416134,
                                             557.5353408177277};
constexpr double kErfcNumeratorFrom8[] = {0.5641895835477551, 1.275366707599781,  5.019050422511805,
                                          6.160210979930536,  7.4097426995044895, 2.9788666537210022};
constexpr double kErfcDenominatorFrom8[] = {1.0,
                                            2.2605286322011726,
                                            9.396035249380015,
                                            12.048953980809666,
                                            17.08144507475659,
                                            9.608968090632859,
                                            3.369076451000815};

Term ErfcOf32(Term x) {
  const Term square = x * x;
  const Term minus_square = -square;
  const Term size = Abs(x);
  const Term inverse = 1 / square;
  const Term series = Select(size < 2, Polynomial(inverse, kErfcBelow2), Polynomial(inverse, kErfcFrom2));
  const Term tail = (Exponential(minus_square) * (1 / size)) * series;
  const Term upper = Select(minus_square < -88.7228394, x.Same(0), tail);
  const Term lower = 1 - x * Polynomial(square, kErfOverX32);
  return Select(size < 1, lower, Select(x < 0, 2 - upper, upper));
}

Term ErfcOf64(Term x) {
  const Term square = x * x;
  const Term minus_square = -square;
  const Term e = Exponential(minus_square);
  const Term size = Abs(x);
  const Term below8 = (e * Polynomial(size, kErfcNumeratorBelow8)) / Polynomial(size, kErfcDenominatorBelow8);
  const Term from8 = (e * Polynomial(size, kErfcNumeratorFrom8)) / Polynomial(size, kErfcDenominatorFrom8);
  const Term upper = Select(minus_square < -709.78271289338397, x.Same(0), Select(size < 8, below8, from8));
  const Term lower = 1 - (x * Polynomial(square, kErfNumerator)) / Polynomial(square, kErfDenominator);
  return Select(size < 1, lower, Select(x < 0, 2 - upper, upper));
}

// ---- erf_inv -------------------------------------------------------------------------------------------------------
//
// x times a polynomial in w = -log(1 - x^2), or in sqrt(w), each shifted: one for each range of w (M. Giles, 2010).

// f32: w < 5 in w - 2.5; else in sqrt(w) - 3.
constexpr double kErfInvBelow5[] = {2.81022636e-08, 3.43273939e-07, -3.5233877e-06, -4.39150654e-06, 0.00021858087,
                                    -0.00125372503, -0.00417768164, 0.246640727,    1.50140941};
constexpr double kErfInvFrom5[] = {-0.000200214257, 0.000100950558, 0.00134934322, -0.00367342844, 0.00573950773,
                                   -0.0076224613,   0.00943887047,  1.00167406,    2.83297682};

// f64: w < 6.25 in w - 3.125; w < 16 in sqrt(w) - 3.25; else in sqrt(w) - 5.
constexpr double kErfInvBelow6[] = {
    -3.64441206401782e-21,   -1.6850591381820166e-19, 1.28584807152564e-18,    1.1157877678025181e-17,
    -1.333171662854621e-16,  2.0972767875968562e-17,  6.637638134358324e-15,   -4.054566272975207e-14,
    -8.151934197605472e-14,  2.6335093153082323e-12,  -1.2975133253453532e-11, -5.415412054294628e-11,
    1.0512122733215323e-09,  -4.112633980346984e-09,  -2.9070369957882005e-08, 4.2347877827932404e-07,
    -1.3654692000834679e-06, -1.3882523362786469e-05, 0.00018673420803405714,  -0.000740702534166267,
    -0.006033670871430149,   0.24015818242558962,     1.6536545626831027};
constexpr double kErfInvBelow16[] = {
    2.2137376921775787e-09,  9.075656193888539e-08,  -2.7517406297064545e-07, 1.8239629214389228e-08,
    1.5027403968909828e-06,  -4.013867526981546e-06, 2.9234449089955446e-06,  1.2475304481671779e-05,
    -4.7318229009055734e-05, 6.828485145957318e-05,  2.4031110387097894e-05,  -0.0003550375203628475,
    0.0009532893797373805,   -0.0016882755560235047, 0.002491442096107851,    -0.003751208507569241,
    0.005370914553590064,    1.0052589676941592,     3.0838856104922208};
constexpr double kErfInvFrom16[] = {-2.7109920616438573e-11, -2.555641816996525e-10,  1.5076572693500548e-09,
                                    -3.789465440126737e-09,  7.61570120807834e-09,    -1.496002662714924e-08,
                                    2.914795345090108e-08,   -6.771199775845234e-08,  2.2900482228026655e-07,
                                    -9.9298272942317e-07,    4.526062597223154e-06,   -1.968177810553167e-05,
                                    7.599527703001776e-05,   -0.00021503011930044477, -0.00013871931833623122,
                                    1.0103004648645344,      4.849906401408584};

Term ErfInvOf32(Term x, Term w) {
  const Term is_below5 = w < 5;
  const Term z = Select(is_below5, w - 2.5, Sqrt(w) - 3);
  const auto coefficient = [&](int i) { return Select(is_below5, x.Same(kErfInvBelow5[i]), x.Same(kErfInvFrom5[i])); };
  Term sum = coefficient(0);
  for (int i = 1; i < 9; ++i) sum = coefficient(i) + sum * z;
  return sum;
}

// The polynomials have 23, 19 and 17 coefficients. A shorter one is ready before the longest is.
Term ErfInvOf64(Term x, Term w) {
  const Term is_below6 = w < 6.25, is_below16 = w < 16;
  const Term z = Select(is_below6, w - 3.125, Sqrt(w) - Select(is_below16, x.Same(3.25), x.Same(5)));
  const auto first_two = [&](int i) { return Select(is_below6, x.Same(kErfInvBelow6[i]), x.Same(kErfInvBelow16[i])); };
  const auto coefficient = [&](int i) { return Select(is_below16, first_two(i), x.Same(kErfInvFrom16[i])); };
  Term sum = coefficient(0);
  for (int i = 1; i < 17; ++i) sum = coefficient(i) + sum * z;
  for (int i = 17; i < 19; ++i) sum = Select(is_below16, first_two(i) + sum * z, sum);
  for (int i = 19; i < 23; ++i) sum = Select(is_below6, kErfInvBelow6[i] + sum * z, sum);
  return sum;
}

// ---- bessel_i1e ----------------------------------------------------------------------------------------------------
//
// exp(-|x|) I1(x), by Chebyshev series: |x| <= 8 in |x| / 2 - 2, else in 32 / |x| - 2 (Cephes).

constexpr double kBesselUpTo8In32[] = {9.38153732e-09,  -4.44505908e-08, 2.00329481e-07,  -8.56872e-07,  3.47025139e-06,
                                       -1.32731639e-05, 4.78156508e-05,  -0.000161760821, 0.000512286,   -0.00151357241,
                                       0.0041564228,    -0.0105640851,   0.0247264486,    -0.0529459827, 0.102643661,
                                       -0.176416516,    0.252587199};
constexpr double kBesselFrom8In32[] = {-3.83538046e-09, -2.63146891e-08, -2.51223611e-07, -3.88256467e-06,
                                       -0.000110588939, -0.00976109784,  0.778576254};
constexpr double kBesselUpTo8In64[] = {
    2.7779141127610464e-18, -2.111421214358166e-17,  1.5536319577362005e-16, -1.1055969477353862e-15,
    7.600684294735408e-15,  -5.042185504727912e-14,  3.223793365945575e-13,  -1.9839743977649436e-12,
    1.1736186298890901e-11, -6.663489723502027e-11,  3.625590281552117e-10,  -1.8872497517228294e-09,
    9.381537386495773e-09,  -4.445059128796328e-08,  2.0032947535521353e-07, -8.568720264695455e-07,
    3.4702513081376785e-06, -1.3273163656039436e-05, 4.781565107550054e-05,  -0.00016176081582589674,
    0.0005122859561685758,  -0.0015135724506312532,  0.004156422944312888,   -0.010564084894626197,
    0.024726449030626516,   -0.05294598120809499,    0.1026436586898471,     -0.17641651835783406,
    0.25258718644363365};
constexpr double kBesselFrom8In64[] = {
    7.517296310842105e-18,   4.414348323071708e-18,  -4.6503053684893586e-17, -3.209525921993424e-17,
    2.96262899764595e-16,    3.3082023109209285e-16, -1.8803547755107825e-15, -3.8144030724370075e-15,
    1.0420276984128802e-14,  4.272440016711951e-14,  -2.1015418427726643e-14, -4.0835511110921974e-13,
    -7.198551776245908e-13,  2.0356285441470896e-12, 1.4125807436613782e-11,  3.2526035830154884e-11,
    -1.8974958123505413e-11, -5.589743462196584e-10, -3.835380385964237e-09,  -2.6314688468895196e-08,
    -2.512236237870209e-07,  -3.882564808877691e-06, -0.00011058893876262371, -0.009761097491361469,
    0.7785762350182801};

// By Clenshaw's recurrence.
Term ChebyshevSeries(Term x, absl::Span<const double> coefficients) {
  Term b0 = x.Same(0), b1 = b0, b2 = b0;
  for (double coefficient : coefficients) {
    b2 = b1;
    b1 = b0;
    b0 = (x * b1 - b2) + coefficient;
  }
  return (b0 - b2) * 0.5;
}

}  // namespace

Term Erfc(Term x) { return x.type() == F64 ? ErfcOf64(x) : ErfcOf32(x); }

Term ErfInv(Term x) {
  const Term w = -LogPlusOne(x * -x);
  const Term value = (x.type() == F64 ? ErfInvOf64(x, w) : ErfInvOf32(x, w)) * x;
  return Select(Equal(Abs(x), 1), x * Infinity(x), value);
}

Term BesselI1e(Term x) {
  const bool is_double = x.type() == F64;
  const absl::Span<const double> up_to8 =
      is_double ? absl::MakeSpan(kBesselUpTo8In64) : absl::MakeSpan(kBesselUpTo8In32);
  const absl::Span<const double> from8 =
      is_double ? absl::MakeSpan(kBesselFrom8In64) : absl::MakeSpan(kBesselFrom8In32);
  const Term size = Abs(x);
  const Term small = size * ChebyshevSeries(0.5 * size - 2, up_to8);
  const Term large = ChebyshevSeries(32 / size - 2, from8) / Sqrt(size);
  return Sign(x) * Select(size <= 8, small, large);
}

}  // namespace kashi::stablehlo
