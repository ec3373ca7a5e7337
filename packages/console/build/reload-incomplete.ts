import type { Plugin } from 'vite';

/**
 * Loads the page again if the browser could not load a script or a style that the page needs at first, for example
 * because the network of its machine changed. Otherwise the page would stay empty. Later failures are those of one page
 * of the console, which shows them.
 */
const script = `addEventListener('error', ({ target }) => {
  const root = document.getElementById('root');
  if (!root || root.firstElementChild || (target.localName !== 'script' && target.rel !== 'stylesheet')) return;
  root.textContent = navigator.language.startsWith('de')
    ? 'Die Konsole konnte nicht vollst\\u00e4ndig geladen werden. Sie wird in wenigen Sekunden erneut geladen.'
    : 'The console could not be loaded completely. It is loaded again in a few seconds.';
  setTimeout(() => location.reload(), 3000);
}, true);`;

/** Adds that script to a page. The service permits the scripts in the page by their digests. */
export const reloadIncomplete = (): Plugin => ({
  name: 'reload-incomplete',
  transformIndexHtml: () => [{ tag: 'script', children: script, injectTo: 'head-prepend' }],
});
