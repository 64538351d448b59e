import { loadData, show } from './view.ts';

const id = location.pathname.split('/')[1];
const isSlow = id === 'history-slow';
const base = `/${id}/`;

const render = async () => {
  const path = location.pathname;
  if (isSlow) await loadData();
  if (path === location.pathname) show(path, base);
};

addEventListener('click', (event) => {
  const link = (event.target as Element).closest('a');
  if (!link) return;
  event.preventDefault();
  history.pushState({}, '', link.href);
  if (link.id === 'old') history.replaceState({}, '', `${base}three`);
  render();
});
addEventListener('popstate', render);
render();
