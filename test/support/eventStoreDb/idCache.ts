// The ids and revisions of the newest events. This bounded cache makes `any` idempotent.
export class IdCache {
  readonly #capacity: number;
  readonly #revisions = new Map<string, bigint>();

  constructor(capacity: number) {
    this.#capacity = capacity;
  }

  add(stream: string, id: string, revision: bigint): void {
    this.#revisions.set(`${id} ${stream}`, revision);
    if (this.#revisions.size <= this.#capacity) return;
    const [oldest] = this.#revisions.keys();
    this.#revisions.delete(oldest!);
  }

  revisionOf(stream: string, id: string): bigint | undefined {
    return this.#revisions.get(`${id} ${stream}`);
  }

  clear(): void {
    this.#revisions.clear();
  }
}
