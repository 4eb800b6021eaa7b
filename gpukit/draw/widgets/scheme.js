// Follows the page around a node: is it light or dark, now and when its theme changes?

const isDark = (start) => {
  for (let node = start; node; node = node.parentElement) {
    const [red, green, blue, opacity = 1] = getComputedStyle(node)
      .backgroundColor.match(/[\d.]+/g)
      .map(Number);
    if (opacity > 0.5) return 0.299 * red + 0.587 * green + 0.114 * blue < 128;
  }
  return false;
};

export function followScheme(node, tell) {
  const look = () => tell(isDark(node) ? "dark" : "light");
  const themes = new MutationObserver(() => (node.isConnected ? look() : themes.disconnect()));
  for (const watched of [document.documentElement, document.body])
    themes.observe(watched, { attributes: true });
  look();
}
