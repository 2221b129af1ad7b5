// Errors of the SDK: each names the field, and says what is allowed.

/** Base of all errors of the SDK. */
export class SwitchroomError extends Error {
  constructor(message: string, options?: ErrorOptions) {
    super(message, options);
    this.name = new.target.name;
  }
}

/** A field has a value that is not allowed, such as an id `..`. */
export class InvalidField extends SwitchroomError {
  constructor(
    readonly field: string,
    message: string,
  ) {
    super(`${field}: ${message}`);
  }
}

/** A chain ends with a webhook, and nothing can follow. */
export class ChainEnded extends SwitchroomError {
  constructor(readonly address: string) {
    super(`action: the chain ends with the webhook ${address}`);
  }
}

/** An address begins with `/`, and nothing says at which server it is. */
export class RelativeAddress extends SwitchroomError {
  constructor(readonly address: string) {
    super(`${address} is an address at your own server: set SWITCHROOM_PUBLIC_URL or publicUrl`);
  }
}

/** A request is not from Switchroom, or too old. */
export class VerificationFailed extends SwitchroomError {}

/** A request has another body than the handler expects. */
export class UnexpectedBody extends VerificationFailed {}

/** Switchroom did not respond, or not in time. */
export class ConnectionFailed extends SwitchroomError {}

/** One error in a request: the path of the field, what is wrong, and a code. */
export interface FieldError {
  path: string;
  message: string;
  code?: string;
}

/** What Switchroom says of a rejected request (RFC 9457). */
export interface Problem {
  type?: string;
  title?: string;
  code?: string;
  detail?: string;
  errors?: FieldError[];
}

/** Switchroom rejected a request. */
export class ApiError extends SwitchroomError {
  readonly code: string;
  /** The address of the page of the code, at the server: `/docs/errors/call_ended`. */
  readonly type: string;
  readonly detail: string;
  readonly errors: readonly FieldError[];

  constructor(
    readonly status: number,
    problem: Problem,
    readonly requestId: string,
    readonly retryAfterS: number | undefined,
  ) {
    const code = problem.code ?? `http_${status}`;
    const detail = problem.detail || problem.title || "no details";
    // A gateway before the server may have a form of its own.
    const given: unknown[] = Array.isArray(problem.errors) ? problem.errors : [];
    const errors = given.filter((each): each is FieldError => typeof each === "object" && each !== null);
    const fields = errors.map((each) => `${each.path || "body"}: ${each.message}`).join("; ");
    super(`${status} ${code}: ${fields || detail}`);
    this.code = code;
    this.type = problem.type ?? "about:blank";
    this.detail = detail;
    this.errors = errors;
  }

  /** The path of the first field that is wrong; empty if the request as a whole is. */
  get field(): string {
    return this.errors[0]?.path ?? "";
  }
}
