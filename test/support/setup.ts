import { createDatabaseTemplate } from './databaseTemplate.ts';

/** Runs once, before vitest starts its workers, which inherit the environment. */
export const setup = async (): Promise<void> => {
  process.env.CLEW_DATABASE_TEMPLATE ??= await createDatabaseTemplate();
};
