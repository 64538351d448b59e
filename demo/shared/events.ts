/** All events that the demo apps may track. */
export interface AppEvents {
  'yarn added': { yarn: string; price: number };
  'banner dismissed': undefined;
  signup: { plan: 'free' | 'pro' };
}
