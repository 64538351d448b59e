import { readdir, readFile, stat } from 'node:fs/promises';
import { join, relative, resolve } from 'node:path';
import { tagsIn } from '../catalogue/html.js';
import { type Mark, marksInTags } from '../catalogue/marks.js';

const HTML = /\.(html?|xhtml|vue|svelte|astro|php|phtml|erb|ejs|hbs|njk|liquid|twig|jinja2?|cshtml|razor|jsp)$/i;
const MARK = /clew/i;

/** The files with HTML in a folder, except packages, hidden folders and built files. */
const filesIn = async (folder: string, outDirs: readonly string[]): Promise<string[]> => {
  const entries = await readdir(folder, { withFileTypes: true });
  const found = await Promise.all(
    entries.map(async (entry) => {
      const path = join(folder, entry.name);
      if (entry.isFile()) return HTML.test(entry.name) ? [path] : [];
      const isOther = !entry.isDirectory() || entry.name === 'node_modules' || entry.name.startsWith('.');
      return isOther || outDirs.includes(path) ? [] : filesIn(path, outDirs);
    }),
  );
  return found.flat().sort();
};

/** The marks and calls of these files, and of the files with HTML in these folders. */
export const readMarks = async (cwd: string, paths: readonly string[], outDirs: readonly string[]): Promise<Mark[]> => {
  const files: string[] = [];
  for (const path of paths.map((one) => resolve(cwd, one)))
    files.push(...((await stat(path)).isDirectory() ? await filesIn(path, outDirs) : [path]));
  const marks: Mark[] = [];
  for (const file of new Set(files)) {
    const text = await readFile(file, 'utf8');
    if (MARK.test(text)) marks.push(...marksInTags(tagsIn(text), relative(cwd, file)));
  }
  return marks;
};
