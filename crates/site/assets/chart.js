// Crosshair and zoom of charts. Without it a chart has links to other parts of it, and each datum its own title.
const zooms = new Map(); // By the id of a figure: start and width of the shown part, as shares of the plot.

const shownOf = (figure) => zooms.get(figure.id) ?? { from: 0, part: 1 };

// Zooms the plots of a figure around `middle`, a share of the shown part, whose position stays fixed.
const zoom = (figure, factor, middle) => {
  const { from, part } = shownOf(figure);
  const next = Math.min(1, Math.max(0.02, part * factor));
  zooms.set(figure.id, { from: Math.min(1 - next, Math.max(0, from + (part - next) * middle)), part: next });
  figure.dispatchEvent(new Event("zoomed"));
};

const setUpChart = (figure, svg) => {
  const plot = svg.querySelector(".plot");
  const marks = [...plot.querySelectorAll(".mark")];
  const width = plot.width.baseVal.value;
  const height = plot.height.baseVal.value;
  const readout = figure.querySelector(".readout");
  const ticks = [...svg.querySelectorAll(".tick.x, .grid")]
    .map((element) => ({ element, x: Number(element.getAttribute(element.tagName === "text" ? "x" : "x1")) }))
    .filter(({ element }) => element.tagName === "text" || element.getAttribute("x1") === element.getAttribute("x2"));
  const cross = document.createElementNS("http://www.w3.org/2000/svg", "line");
  cross.setAttribute("class", "cross off");
  cross.setAttribute("y1", "0");
  cross.setAttribute("y2", String(height));
  plot.append(cross);

  const shown = () => shownOf(figure);
  const draw = () => {
    const { from, part } = shown();
    plot.setAttribute("viewBox", `${from * width} 0 ${part * width} ${height}`);
    for (const { element, x } of ticks) {
      const at = (x - from * width) / part;
      element.classList.toggle("off", at < 0 || at > width);
      for (const name of element.tagName === "text" ? ["x"] : ["x1", "x2"]) element.setAttribute(name, at.toFixed(2));
    }
  };
  const place = (event) => {
    const box = svg.getBoundingClientRect();
    const scale = box.width / svg.viewBox.baseVal.width;
    return (event.clientX - box.left) / scale / width;
  };
  const point = (event) => {
    const { from, part } = shown();
    const x = (from + place(event) * part) * width;
    let nearest;
    let distance = Infinity;
    for (const mark of marks) {
      const apart = Math.abs(Number(mark.dataset.x) - x);
      if (apart < distance) [nearest, distance] = [mark, apart];
    }
    if (!nearest) return;
    cross.setAttribute("x1", nearest.dataset.x);
    cross.setAttribute("x2", nearest.dataset.x);
    cross.classList.remove("off");
    readout.textContent = nearest.querySelector("title").textContent.trim();
  };
  let dragged;
  svg.addEventListener("pointerdown", (event) => {
    if (shown().part < 1) dragged = place(event);
  });
  svg.addEventListener("pointermove", (event) => {
    if (dragged !== undefined && event.buttons) {
      const { from, part } = shown();
      const now = place(event);
      zooms.set(figure.id, { from: Math.min(1 - part, Math.max(0, from - (now - dragged) * part)), part });
      dragged = now;
      draw();
    } else {
      dragged = undefined;
    }
    point(event);
  });
  svg.addEventListener("pointerleave", () => {
    dragged = undefined;
    cross.classList.add("off");
    readout.textContent = "";
  });
  // The wheel alone scrolls the page; a pinch arrives as a wheel event with the control key.
  svg.addEventListener(
    "wheel",
    (event) => {
      if (!event.ctrlKey && !event.shiftKey) return;
      event.preventDefault();
      zoom(figure, (event.deltaY || event.deltaX) > 0 ? 1.25 : 0.8, Math.min(1, Math.max(0, place(event))));
    },
    { passive: false },
  );
  figure.addEventListener("zoomed", draw);
  if (zooms.has(figure.id)) draw();
};

const setUpCharts = () => {
  for (const figure of document.querySelectorAll(".chart-figure:not([data-ready])")) {
    figure.dataset.ready = "";
    const buttons = figure.querySelector(".zoom");
    buttons.hidden = false;
    buttons.addEventListener("click", (event) => {
      const asked = event.target.closest("[data-zoom]")?.dataset.zoom;
      if (asked) zoom(figure, { in: 0.6, out: 1 / 0.6, all: Infinity }[asked], 0.5);
    });
    for (const svg of figure.querySelectorAll("svg.chart")) setUpChart(figure, svg);
  }
};
setUpCharts();
document.addEventListener("content", setUpCharts);
