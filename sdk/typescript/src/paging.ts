// Lists: iterators over all rows, which request a page when they need it.

import type { Request, RequestOptions, Sender } from "./request.js";

export type ListOptions = Pick<RequestOptions, "signal">;

interface Page<Item> {
  data: Item[];
  nextCursor?: string | number | null;
  offset?: number;
  total?: number;
}

/** Iterates over all rows with `for await`; `pages()` over pages, `first()` is the first page. */
export class Paginator<Item, P extends { data: Item[] }> implements AsyncIterable<Item> {
  constructor(
    private readonly client: Sender,
    private readonly request: Request,
    private readonly options: ListOptions,
  ) {}

  async *[Symbol.asyncIterator](): AsyncIterator<Item> {
    for await (const page of this.pages()) {
      yield* page.data;
    }
  }

  async *pages(): AsyncIterable<P> {
    let request: Request | undefined = this.request;
    while (request !== undefined) {
      const page: P = await this.client.send<P>(request, this.options);
      yield page;
      request = nextRequest(request, page);
    }
  }

  first(): Promise<P> {
    return this.client.send<P>(this.request, this.options);
  }
}

function nextRequest(request: Request, page: Page<unknown>): Request | undefined {
  if (page.nextCursor !== undefined) {
    if (page.nextCursor === null) {
      return undefined;
    }
    const { offset, ...query } = request.query ?? {};
    const from = offset === undefined ? {} : { offset: 0 }; // it counts from the cursor
    return { ...request, query: { ...query, ...from, cursor: page.nextCursor } };
  }
  if (page.offset === undefined || page.total === undefined || page.data.length === 0) {
    return undefined;
  }
  const offset = page.offset + page.data.length;
  return offset < page.total ? { ...request, query: { ...request.query, offset } } : undefined;
}
