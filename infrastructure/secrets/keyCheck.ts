// Whether SECRETS_KEY is the one that sealed what is in this database.
import type { Sql } from '../../application/ports/sql.ts';
import { seal, unseal } from './seal.ts';

const CONTEXT = 'secrets key check';

/** Changes nothing. null: nothing was sealed yet. */
export const opensWhatIsSealed = async (db: Sql, key: Buffer): Promise<boolean | null> => {
  const { rows } = await db.query<{ sealed: Buffer }>('SELECT sealed FROM operations.secrets_key_check');
  if (rows[0] === undefined) return null;
  try {
    return unseal(key, CONTEXT, rows[0].sealed) === CONTEXT;
  } catch {
    return false;
  }
};

/** The first start seals a word; every later one must be able to read it. */
export const isRightSecretsKey = async (db: Sql, key: Buffer): Promise<boolean> => {
  await db.query('INSERT INTO operations.secrets_key_check (sealed) VALUES ($1) ON CONFLICT DO NOTHING', [
    seal(key, CONTEXT, CONTEXT),
  ]);
  return (await opensWhatIsSealed(db, key)) === true;
};
