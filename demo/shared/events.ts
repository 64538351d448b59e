/** The events of the demo apps: what they may track, and nothing else. */
export interface AppEvents {
  'yarn added': { yarn: string; price: number };
  'banner dismissed': undefined;
  signup: { plan: 'free' | 'pro' };
}
