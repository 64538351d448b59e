'use client';

import { createTracker } from 'clew';
import { useTracker } from 'clew/react';
import type { AppEvents } from '../../shared/events.ts';

/** On the server, this tracker does nothing. */
export const tracker = createTracker<AppEvents>({ baseUrl: '/clew' });

/** `useTracker` that knows this app's events. */
export const useAppTracker = useTracker<AppEvents>;
