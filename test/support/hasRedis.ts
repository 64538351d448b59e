import { spawnSync } from 'node:child_process';

/** Whether this machine has redis-server. `test/install-redis.ts` tries to install it. */
export const hasRedis = (): boolean => spawnSync('redis-server', ['--version']).status === 0;
