export { type EngagementOptions, engagement } from './plugins/engagement.js';
