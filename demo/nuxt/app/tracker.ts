import { createTracker } from 'clew';
import { useTracker } from 'clew/vue';
import type { AppEvents } from '../../shared/events';

export const tracker = createTracker<AppEvents>({ baseUrl: '/clew' });

/** `useTracker` that knows this app's events. */
export const useAppTracker = useTracker<AppEvents>;
