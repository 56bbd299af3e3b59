/** Closes in reverse order of opening, whatever was opened when something failed. */
export class Openings {
  readonly #closers: (() => Promise<void>)[] = [];
  onClose(close: () => Promise<void>): void {
    this.#closers.unshift(close);
  }
  async close(): Promise<void> {
    for (const close of this.#closers.splice(0)) await close();
  }
}
