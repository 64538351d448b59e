import { show } from './view.ts';

const render = () => {
  if (location.hash === '#/old') location.replace('#/three');
  else show(location.hash, '#/');
};

addEventListener('hashchange', render);
render();
