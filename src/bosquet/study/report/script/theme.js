// Light or dark theme: that of the system, or the stored choice of the reader.

function themeButton() {
  const button = document.getElementById("theme");
  const system = matchMedia("(prefers-color-scheme: dark)");
  const dark = () => (document.documentElement.dataset.theme || (system.matches ? "dark" : "light")) === "dark";
  const show = () => {
    const other = dark() ? "light" : "dark";
    clear(button).append(sunOrMoon(other), h("span", { class: "label" }, other === "dark" ? "Dark" : "Light"));
    button.setAttribute("aria-label", `Switch to ${other} colours`);
  };
  button.addEventListener("click", () => {
    const theme = dark() ? "light" : "dark";
    document.documentElement.dataset.theme = theme;
    try {
      localStorage.setItem("bosquet-theme", theme);
    } catch (error) {
      // Without local storage the choice is not kept.
    }
    show();
  });
  system.addEventListener("change", show);
  button.hidden = false;
  show();
}

function sunOrMoon(theme) {
  const svg = s("svg", { viewBox: "0 0 16 16", "aria-hidden": "true", fill: "none", stroke: "currentColor",
    "stroke-width": 1.5 });
  if (theme === "dark") {
    svg.append(s("path", { d: "M13.5 9.8A6 6 0 0 1 6.2 2.5a6 6 0 1 0 7.3 7.3z", "stroke-linejoin": "round" }));
    return svg;
  }
  svg.append(s("circle", { cx: 8, cy: 8, r: 3 }));
  for (let i = 0; i < 8; i++) {
    const [x, y] = [Math.cos((i * Math.PI) / 4), Math.sin((i * Math.PI) / 4)];
    svg.append(s("path", { d: `M${8 + 5 * x} ${8 + 5 * y}L${8 + 7 * x} ${8 + 7 * y}`, "stroke-linecap": "round" }));
  }
  return svg;
}
