const TITLES: Record<string, string> = { one: 'One', two: 'Two', three: 'Three' };
const NAMES = ['one', 'two', 'three', 'old'];

/** The name of the page at a path. */
export const nameOf = (path: string): string => path.split('/').at(-1) ?? '';
export const titleOf = (path: string): string => TITLES[nameOf(path)] ?? 'none';

/** Shows the page, as apps without a framework do: title, links and heading. */
export const show = (path: string, base: string): void => {
  document.title = titleOf(path);
  const links = NAMES.map((name) => `<a id="${name}" href="${base}${name}">${name}</a>`).join(' ');
  document.body.innerHTML = `<nav>${links}</nav><h1>${titleOf(path)}</h1>`;
};

/** The server takes 300 ms to answer. */
export const loadData = async (): Promise<void> => {
  await (await fetch('/data')).text();
};
