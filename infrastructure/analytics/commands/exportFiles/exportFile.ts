// A file to which rows are written page by page, so that memory stays flat.
import type { AnalystColumn } from '../../../../projections/analytics/view.ts';

export type ExportColumns = readonly Pick<AnalystColumn, 'name' | 'type'>[];
/** The columns' texts; null for NULL. */
export type ExportRow = { readonly [column: string]: string | null };

export interface ExportFile {
  write(rows: readonly ExportRow[]): Promise<void>;
  /** Completes the file. */
  close(): Promise<void>;
}

/** Creates a private file (mode 0600). Rejects with the error of the file system. */
export type OpenExportFile = (path: string, columns: ExportColumns) => Promise<ExportFile>;
