// Runs in the notebook, next to the player's frame: sends the player the page's theme, light or
// dark, when the player requests it and when it changes.

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
