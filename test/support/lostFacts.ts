// Creates a log that has lost facts, to test the consequences. The database otherwise rejects this.
interface Queries {
  query(text: string, values?: unknown[]): Promise<unknown>;
}

/** Runs a statement that the triggers on the events would reject. */
export const loseFacts = async (db: Queries, text: string, values: unknown[] = []): Promise<void> => {
  await db.query('ALTER TABLE event_store.events DISABLE TRIGGER USER');
  try {
    await db.query(text, values);
  } finally {
    await db.query('ALTER TABLE event_store.events ENABLE TRIGGER USER');
  }
};
