// A legend's entry that is pointed at dims the other curves of its figure.
for (const figure of document.querySelectorAll("figure")) {
  const series = figure.querySelectorAll(".series");
  figure.querySelectorAll(".legend li").forEach((entry, place) => {
    const dim = (dims) => series.forEach((one, at) => one.classList.toggle("dimmed", dims && at !== place));
    entry.addEventListener("mouseenter", () => dim(true));
    entry.addEventListener("mouseleave", () => dim(false));
  });
}
