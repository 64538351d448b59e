import { randomUUID } from 'node:crypto';

export const BATCH = '/clew/api/events/batch/';

/** An event as a tracker sends it. */
export const event = (name: string, more: object = {}) => ({
  uuid: randomUUID(),
  timestamp: new Date().toISOString(),
  event: name,
  source: 'custom',
  correlationKey: '_id',
  correlationValue: '01234567-89ab-4cde-8f01-23456789abcd',
  payload: { name },
  ...more,
});
