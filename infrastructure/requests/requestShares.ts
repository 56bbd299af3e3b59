// Takes shares of a minute's rate limit in Postgres, one statement per batch.
import type { RequestMinutes, ShareGrant, TakeShares } from '../../application/ports/requestShares.ts';
import { type Sql, TextArray } from '../../application/ports/sql.ts';
import { int8Array } from '../postgres/binaryArrays.ts';

interface Row {
  readonly name: string;
  readonly began: number;
  readonly left_ms: number;
  readonly granted: number;
  readonly taken: number;
}

const TAKE_TEXT = 'SELECT * FROM operations.take_request_shares($1::text[], $2, $3, $4, $5, $6)';

/** Stands for "no particular minute". */
const NONE = 0;

export const requestShares =
  (db: Sql): TakeShares =>
  async (requests) => {
    const { rows } = await db.query<Row>({
      name: 'take_request_shares',
      text: TAKE_TEXT,
      values: [
        new TextArray(requests.map(({ name }) => name)),
        int8Array(requests.map(({ perMinute }) => perMinute)),
        int8Array(requests.map(({ began }) => began ?? NONE)),
        int8Array(requests.map(({ owed }) => owed)),
        int8Array(requests.map(({ waiting }) => waiting)),
        int8Array(requests.map(({ ahead }) => ahead)),
      ],
    });
    return new Map(
      rows.map(({ name, began, left_ms: leftMs, granted, taken }): [string, ShareGrant] => [
        name,
        { began, leftMs, granted, taken },
      ]),
    );
  };

export const requestMinutes = (db: Sql): RequestMinutes => ({
  forgetOldMinutes: async () => {
    await db.query("DELETE FROM operations.request_minutes WHERE began_at < now() - interval '10 minutes'");
  },
});
