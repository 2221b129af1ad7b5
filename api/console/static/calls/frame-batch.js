// @ts-check
// Many changes, one rendering: at the next frame of the screen.

/**
 * Return a function that lets `render` run once at the next frame, however often it is called. In a
 * hidden window nothing is rendered until it is shown.
 * @param {() => void} render
 */
export function batchByFrame(render) {
  let isDue = false;
  return () => {
    if (isDue) return;
    isDue = true;
    requestAnimationFrame(() => {
      isDue = false;
      render();
    });
  };
}
