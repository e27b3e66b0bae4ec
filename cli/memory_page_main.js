// The page of `kashi memory --html` has nothing else.
"use strict";
(() => {
  const memory = kashi.showMemory(JSON.parse(document.getElementById("data").textContent), {
    isShown: () => true,
    fragment: () => new URLSearchParams(location.hash.slice(1)),
    setFragment(parameters) {
      try { history.replaceState(null, "", `#${parameters}`); } catch { /* a browser that does not want it for files */ }
    },
    finish() {},
  });
  if (memory !== null) addEventListener("hashchange", memory.readFragment);
})();
