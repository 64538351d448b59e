import { loadData, show } from './view.ts';

const base = '/navigation/';

// Without the Navigation API, the links load the page.
if ('navigation' in window)
  navigation.addEventListener('navigate', (event) => {
    const { pathname } = new URL(event.destination.url);
    if (!event.canIntercept || !pathname.startsWith(base) || event.navigationType === 'reload') return;
    if (pathname === `${base}old`) {
      event.preventDefault();
      navigation.navigate(`${base}three`);
      return;
    }
    const handler = async () => {
      await loadData();
      show(pathname, base);
    };
    event.intercept({ handler });
  });
show(location.pathname, base);
