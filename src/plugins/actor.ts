import type { PluginTools, Tracker } from '../api/types.js';

/** The visitor of a view or a form. Without an id, the page did not know the visitor yet. */
export interface Actor {
  id?: string;
}

/** The present visitor, once that is certain. */
export const actorOf = ({ correlationValue }: Tracker): Actor => {
  const actor: Actor = {};
  correlationValue().then(
    (id) => {
      actor.id = id;
    },
    () => {},
  );
  return actor;
};

/** Whether this is the visitor still. Another tab may have begun another one since. */
export const isPresent = ({ id }: Actor, { visitorId }: PluginTools): boolean => !id || id === visitorId();
