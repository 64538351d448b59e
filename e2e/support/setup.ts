import { createDatabaseTemplate } from '../../test/support/databaseTemplate.ts';

/** Before all tests: each demo copies its database from one template. */
const setUp = async (): Promise<void> => {
  process.env.CLEW_DATABASE_TEMPLATE ??= await createDatabaseTemplate();
};

export default setUp;
