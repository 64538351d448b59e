export { type EngagementOptions, engagement } from './plugins/engagement.js';
export { type ExcludeOptions, exclude } from './plugins/exclude.js';
export { type FormOptions, forms } from './plugins/forms.js';
export { renewTokens } from './plugins/renewTokens.js';
export { type SessionOptions, sessions } from './plugins/sessions.js';
