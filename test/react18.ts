import { cp } from 'node:fs/promises';
import { join } from 'node:path';
import type { InstalledApp } from '../demo/apps.ts';

const modules = join(import.meta.dirname, '../node_modules');

/** Gives an installed app React 18, as if it had asked npm for that. */
export const useReact18 = async ({ folder }: InstalledApp): Promise<void> => {
  const asked = { 'react-18': 'react', 'react-dom-18': 'react-dom', 'react-router': 'react-router' };
  for (const [from, to] of Object.entries(asked))
    await cp(join(modules, from), join(folder, 'node_modules', to), { recursive: true });
};
