// A log that has lost facts, which the database refuses whoever asks: what happens then has to be tested too.
interface Queries {
  query(text: string, values?: unknown[]): Promise<unknown>;
}

/** Runs a statement that the triggers on the events would refuse. */
export const loseFacts = async (db: Queries, text: string, values: unknown[] = []): Promise<void> => {
  await db.query('ALTER TABLE event_store.events DISABLE TRIGGER USER');
  try {
    await db.query(text, values);
  } finally {
    await db.query('ALTER TABLE event_store.events ENABLE TRIGGER USER');
  }
};
