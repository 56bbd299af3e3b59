// Makes a log lose facts, to test the consequences. The database otherwise prevents this.
interface Queries {
  query(text: string, values?: unknown[]): Promise<unknown>;
}

/** Runs a statement that the triggers of the events would reject. */
export const loseFacts = async (db: Queries, text: string, values: unknown[] = []): Promise<void> => {
  await db.query('ALTER TABLE event_store.events DISABLE TRIGGER USER');
  try {
    await db.query(text, values);
  } finally {
    await db.query('ALTER TABLE event_store.events ENABLE TRIGGER USER');
  }
};
