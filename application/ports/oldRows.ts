// Operational rows that are no longer needed.

export interface OldRows {
  /** Deletes some rows of each table that are older than the table keeps them. Returns whether there may be more. */
  deleteSome(): Promise<boolean>;
  /**
   * Deletes some places of idle accounts in the hourly limits. Returns whether there may be more. Looks at every account with places.
   */
  deleteIdlePlaces(): Promise<boolean>;
}
