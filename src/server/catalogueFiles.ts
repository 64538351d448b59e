import { readFileSync } from 'node:fs';
import { catalogue, type RelayOptions } from '../relay.js';

/**
 * The relay's check of events against files that `npx clew catalogue` has written. Without a file there is none.
 *
 * @throws TypeError that names the file, and what was expected
 */
export const acceptOf = (paths: readonly string[]): Pick<RelayOptions, 'accept'> => {
  const read = (path: string): object => {
    try {
      // Editors of Windows may write a byte order mark, which `JSON.parse` refuses.
      const content = JSON.parse(readFileSync(path, 'utf8').replace(/^\uFEFF/, ''));
      // Checks it alone, so that the error can name the file.
      catalogue(content);
      return content;
    } catch (error) {
      throw new TypeError(`CATALOGUE: ${path}: ${(error as Error).message}`);
    }
  };
  return paths[0] ? { accept: catalogue(...paths.map(read)) } : {};
};
