'use client';

import { useEffect, useState } from 'react';
import { nameAll } from '../../shared/arrived.ts';
import { useAppTracker } from './tracker.ts';

/** The last events that have arrived, as the tracker reports them. */
export const Thread = () => {
  const tracker = useAppTracker();
  const [arrived, setArrived] = useState<string[]>([]);
  useEffect(
    () => tracker.on('delivered', ({ events }) => setArrived((all) => [...all, ...nameAll(events)])),
    [tracker],
  );
  return (
    <footer className="thread">
      <small>Arrived: {arrived.length} of this page’s events.</small>
      <ol>
        {arrived.slice(-6).map((event, index) => (
          // biome-ignore lint/suspicious/noArrayIndexKey: a list of names that are not unique
          <li key={index}>{event}</li>
        ))}
      </ol>
    </footer>
  );
};
