import { IDENTIFY } from '../wire.js';

/** Why the tracker rejects each event of this name, or `undefined`. */
export const nameFault = (name: string): string | undefined =>
  name === '' || name === IDENTIFY ? `'${name}': the tracker rejects an event of this name` : undefined;
