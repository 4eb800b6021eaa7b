// Runs in the notebook, behind the player's frame: tells the player whether the page around it is
// light or dark, when the player asks and when the page's theme changes.

((frame) => {
  const channels = (node) => getComputedStyle(node).backgroundColor.match(/[\d.]+/g).map(Number);
  const isDark = () => {
    for (let node = frame; node; node = node.parentElement) {
      const [red, green, blue, opacity = 1] = channels(node);
      if (opacity > 0.5) return 0.299 * red + 0.587 * green + 0.114 * blue < 128;
    }
    return false;
  };
  const tell = () =>
    frame.contentWindow?.postMessage({ gpukitScheme: isDark() ? "dark" : "light" }, "*");
  addEventListener("message", ({ source }) => source === frame.contentWindow && tell());
  const themes = new MutationObserver(() => (frame.isConnected ? tell() : themes.disconnect()));
  for (const node of [document.documentElement, document.body])
    themes.observe(node, { attributes: true });
})(document.currentScript.previousElementSibling);
