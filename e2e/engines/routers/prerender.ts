import type { Row } from './rows.ts';
import { urlOf } from './rows.ts';

/**
 * The first script of a prerendered page. The script notes that the page has loaded. Once the page is visible, the script waits for
 * its turn.
 */
export const PRERENDERED = `<script>
if (document.prerendering) {
  addEventListener('load', () => { localStorage[location.pathname + location.hash] = 'loaded'; });
  document.addEventListener('prerenderingchange', async () => {
    location.replace(await (await fetch('/turn')).text());
  });
}
</script>`;

/** A page that prerenders the row's first page, and then goes there. A page that is debugged prerenders nothing. */
export const launcherOf = (row: Row): string => `<!doctype html><title>Launcher</title><h1>Launcher</h1>
<script type="speculationrules">
${JSON.stringify({ prerender: [{ source: 'list', urls: [urlOf(row, 'one')], eagerness: 'immediate' }] })}
</script>
<script>
const look = () => {
  if (!localStorage['${urlOf(row, 'one')}']) return setTimeout(look, 20);
  location.href = '${urlOf(row, 'one')}';
};
look();
</script>`;
