// The sections of the page in order, and the navigation bar.

// A section that fails shows the error in its place; the other sections are not affected.
function guarded(build, name) {
  try {
    return build();
  } catch (error) {
    console.error(`${name}:`, error);
    return section(name, null, "This section could not be drawn", `${name}: ${error.message}`);
  }
}

function navigation(parts) {
  const nav = document.getElementById("sections");
  const links = new Map(parts.map(({ id, nav: title }) => [id, h("a", { href: `#${id}` }, title)]));
  nav.append(...links.values());
  const seen = new Set();
  const observer = new IntersectionObserver((entries) => {
    for (const entry of entries) {
      if (entry.isIntersecting) seen.add(entry.target.id);
      else seen.delete(entry.target.id);
    }
    const current = parts.map(({ id }) => id).filter((id) => seen.has(id)).pop();
    for (const [id, link] of links) {
      if (id === current) link.setAttribute("aria-current", "true");
      else link.removeAttribute("aria-current");
    }
    const link = links.get(current);
    if (link) nav.scrollTo({ left: link.offsetLeft - nav.offsetLeft - 60, behavior: "instant" });
  }, { rootMargin: "-12% 0px -70% 0px" });
  for (const { id } of parts) observer.observe(document.getElementById(id));
}

function start() {
  guarded(themeButton, "theme");
  guarded(openLeaderboard, "leaderboard");
  const parts = [
    [complexitySection, "complexity"],
    [evaluationSection, "test"],
    [regressionSection, "test"],
    [decisionSection, "decisions"],
    [driversSection, "drivers"],
    [boostingSection, "boosting"],
    [treeSection, "tree"],
    [rowsSection, "rows"],
    [explorationSection, "data"],
    [propertiesSection, "properties"],
  ].map(([build, name]) => guarded(build, name)).filter(Boolean);
  document.getElementById("figures").append(...parts.map((part) => part.element));
  navigation([{ id: "leaderboard", nav: "Leaderboard" }, ...parts.filter((part) => part.nav),
    { id: "notes", nav: "Notes" }, { id: "method", nav: "Procedure" }]);
  document.documentElement.dataset.ready = String(Math.round(performance.now()));
}

start();
