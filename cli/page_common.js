// What the pages of `kashi memory --html` and `kashi report` share. Their scripts follow this one.
"use strict";
const kashi = {};

(() => {
  // As HumanBytes in kashi/base/text.cc: three digits; a tie goes to the even one, as in C.
  kashi.human = (bytes) => {
    const units = ["bytes", "KiB", "MiB", "GiB", "TiB", "PiB", "EiB"];
    let value = bytes, unit = 0;
    while (value >= 1023.5) { value /= 1024; ++unit; }
    if (unit === 0) return bytes === 1 ? "1 byte" : `${bytes} bytes`;
    const ten = value >= 99.95 ? 1 : value >= 9.995 ? 10 : 100, digits = value * ten;
    const rounded = digits % 2 === 0.5 ? digits - 0.5 : Math.round(digits);
    return `${rounded / ten} ${units[unit]}`;
  };
  kashi.thousands = (number) => number.toLocaleString("en-US");
  kashi.count = (number, noun) => `${kashi.thousands(number)} ${noun}${number === 1 ? "" : "s"}`;
  // A name of letters from right to left must not turn the sentence around it.
  kashi.isolated = (name) => /^[ -~]*$/.test(name) ? name : `\u2068${name}\u2069`;

  // Texts of the module become text nodes, never HTML.
  kashi.make = (tag, className, content) => {
    const made = document.createElement(tag);
    if (className) made.className = className;
    if (content !== undefined) made.textContent = content;
    return made;
  };

  // The end says most: "jit(step)/…/layer_3/dot_general".
  kashi.tail = (words, most = 56) => {
    const letters = Array.from(words);
    if (letters.length <= most) return words;
    const end = letters.slice(1 - most), slash = end.indexOf("/");
    return `…${end.slice(Math.max(slash, 0)).join("")}`;
  };

  kashi.shorten = (words, most) => words.length <= most ? words : `${words.slice(0, most - 1)}…`;

  // The drawing of a shape's layout: {text of the shape: [SVG for light pages, SVG for dark pages]}. A click shows it
  // larger, in the dialog `large`.
  kashi.layoutFigure = (drawings, shape) => {
    const {make} = kashi;
    if (shape.startsWith("(")) return make("p", "note", "A table of pointers, one per element of the tuple.");
    if (drawings === undefined) {
      const made = make("p", "note", "This page has no drawing of this layout. To see one: ");
      made.append(make("code", "", `kashi draw '${shape}'`));
      return made;
    }
    const [light, dark] = drawings.map((svg) => `data:image/svg+xml,${encodeURIComponent(svg)}`);
    const picture = make("picture"), image = make("img"), source = make("source"), enlarge = make("button", "enlarge");
    Object.assign(source, {media: "(prefers-color-scheme: dark)", srcset: dark});
    Object.assign(image, {alt: `How ${shape} lies in memory`, src: light});
    picture.append(source, image);
    enlarge.type = "button";
    enlarge.title = "Larger";
    enlarge.append(picture);
    enlarge.onclick = () => {
      const large = document.getElementById("large");
      large.querySelector("picture").replaceWith(picture.cloneNode(true));
      large.showModal();
    };
    return enlarge;
  };
})();
