CREATE TABLE accounts (
	id VARCHAR(64) NOT NULL,
	name VARCHAR(128) NOT NULL,
	is_active BOOLEAN NOT NULL,
	max_calls INTEGER,
	max_calls_per_s FLOAT,
	destinations JSON,
	region VARCHAR(2),
	email VARCHAR(254),
	created_ms BIGINT NOT NULL,
	denied JSON NOT NULL,
	number_types JSON NOT NULL,
	max_live_legs INTEGER,
	max_legs_per_s FLOAT,
	max_minutes_per_day INTEGER,
	max_legs_per_call INTEGER,
	keep_records_days INTEGER,
	keep_digits_days INTEGER,
	keep_recordings_days INTEGER,
	trunks JSON NOT NULL,
	transcripts JSON,
	recognizers JSON,
	CONSTRAINT pk_accounts PRIMARY KEY (id)
);

CREATE TABLE audit (
	id BIGSERIAL NOT NULL,
	account_id VARCHAR(64),
	at_ms BIGINT NOT NULL,
	actor VARCHAR(128) NOT NULL,
	agent_id VARCHAR(128),
	address VARCHAR(64) NOT NULL,
	action VARCHAR(128) NOT NULL,
	object VARCHAR(512) NOT NULL,
	outcome VARCHAR(32) NOT NULL,
	request_id VARCHAR(64) NOT NULL,
	CONSTRAINT pk_audit PRIMARY KEY (id)
);

CREATE INDEX ix_audit_account_id_id ON audit (account_id, id);

CREATE TABLE cdr_clients (
	account_id VARCHAR(64) COLLATE "C" NOT NULL,
	client_id VARCHAR(256) COLLATE "C" NOT NULL,
	CONSTRAINT pk_cdr_clients PRIMARY KEY (account_id, client_id)
);

CREATE TABLE cdr_events (
	account_id VARCHAR(64) COLLATE "C" NOT NULL,
	call_id VARCHAR(96) COLLATE "C" NOT NULL,
	sequence_number INTEGER NOT NULL,
	body BYTEA NOT NULL,
	CONSTRAINT pk_cdr_events PRIMARY KEY (account_id, call_id, sequence_number)
);

CREATE TABLE cdrs (
	id BIGSERIAL NOT NULL,
	account_id VARCHAR(64) COLLATE "C" NOT NULL,
	req_id VARCHAR(96) COLLATE "C" NOT NULL,
	started_ms BIGINT NOT NULL,
	client_id VARCHAR(256) COLLATE "C",
	caller_id VARCHAR(330) COLLATE "C" NOT NULL,
	to_number VARCHAR(330) COLLATE "C" NOT NULL,
	call_path VARCHAR(256) COLLATE "C" NOT NULL,
	obd_type VARCHAR(256) COLLATE "C",
	is_answered BOOLEAN NOT NULL,
	has_recording BOOLEAN NOT NULL,
	has_voicemail BOOLEAN NOT NULL,
	disposition1 VARCHAR(128) COLLATE "C",
	disposition2 VARCHAR(128) COLLATE "C",
	disposition3 VARCHAR(128) COLLATE "C",
	marks BIGINT NOT NULL,
	CONSTRAINT pk_cdrs PRIMARY KEY (id)
);

CREATE INDEX cdrs_by_call_path ON cdrs (account_id, call_path, started_ms, id, marks);

CREATE INDEX cdrs_by_caller_id ON cdrs (account_id, caller_id, started_ms, id, marks);

CREATE INDEX cdrs_by_client_id ON cdrs (account_id, client_id, started_ms, id, marks) WHERE client_id IS NOT NULL;

CREATE INDEX cdrs_by_disposition1 ON cdrs (account_id, disposition1, started_ms, id, marks) WHERE disposition1 IS NOT NULL;

CREATE INDEX cdrs_by_disposition2 ON cdrs (account_id, disposition2, started_ms, id, marks) WHERE disposition2 IS NOT NULL;

CREATE INDEX cdrs_by_disposition3 ON cdrs (account_id, disposition3, started_ms, id, marks) WHERE disposition3 IS NOT NULL;

CREATE INDEX cdrs_by_has_recording ON cdrs (account_id, started_ms, id, marks) WHERE has_recording = true;

CREATE INDEX cdrs_by_has_recording_missed ON cdrs (account_id, has_recording, is_answered, started_ms, id, marks) WHERE has_recording = true AND is_answered = false;

CREATE INDEX cdrs_by_has_voicemail ON cdrs (account_id, started_ms, id, marks) WHERE has_voicemail = true;

CREATE INDEX cdrs_by_has_voicemail_missed ON cdrs (account_id, has_voicemail, is_answered, started_ms, id, marks) WHERE has_voicemail = true AND is_answered = false;

CREATE INDEX cdrs_by_is_answered ON cdrs (account_id, is_answered, started_ms, id, marks);

CREATE INDEX cdrs_by_obd_type ON cdrs (account_id, obd_type, started_ms, id, marks) WHERE obd_type IS NOT NULL;

CREATE UNIQUE INDEX cdrs_by_req_id ON cdrs (account_id, req_id);

CREATE INDEX cdrs_by_time ON cdrs (account_id, started_ms, id, marks);

CREATE INDEX cdrs_by_to_number ON cdrs (account_id, to_number, started_ms, id, marks);

CREATE TABLE transcripts (
	id BIGSERIAL NOT NULL,
	account_id VARCHAR(64) COLLATE "C" NOT NULL,
	path VARCHAR(160) COLLATE "C" NOT NULL,
	call_id VARCHAR(128) COLLATE "C" NOT NULL,
	state VARCHAR(16) COLLATE "C" NOT NULL,
	reason VARCHAR(32) COLLATE "C",
	detail VARCHAR(512),
	recognizer VARCHAR(32) COLLATE "C",
	language VARCHAR(64) COLLATE "C",
	duration_ms BIGINT,
	channels_done INTEGER NOT NULL,
	segments BYTEA,
	attempts INTEGER NOT NULL,
	turn BIGINT NOT NULL,
	due_ms BIGINT NOT NULL,
	owner VARCHAR(64) COLLATE "C",
	created_ms BIGINT NOT NULL,
	ended_ms BIGINT,
	CONSTRAINT pk_transcripts PRIMARY KEY (id)
);

CREATE INDEX transcripts_by_account_turn ON transcripts (account_id, turn) WHERE ended_ms IS NULL;

CREATE INDEX transcripts_by_call ON transcripts (account_id, call_id);

CREATE UNIQUE INDEX transcripts_by_path ON transcripts (account_id, path);

CREATE INDEX transcripts_by_turn ON transcripts (turn, due_ms) WHERE ended_ms IS NULL;

CREATE TABLE usage_days (
	account_id VARCHAR(64) COLLATE "C" NOT NULL,
	day INTEGER NOT NULL,
	calls BIGINT NOT NULL,
	answered_calls BIGINT NOT NULL,
	legs BIGINT NOT NULL,
	talk_ms BIGINT NOT NULL,
	messages BIGINT NOT NULL,
	CONSTRAINT pk_usage_days PRIMARY KEY (account_id, day)
);

CREATE TABLE api_keys (
	id VARCHAR(32) NOT NULL,
	account_id VARCHAR(64) NOT NULL,
	agent_id VARCHAR(64),
	key_hash VARCHAR(256) NOT NULL,
	secret_hash VARCHAR(256) NOT NULL,
	created_ms BIGINT NOT NULL,
	expires_ms BIGINT,
	scopes JSON NOT NULL,
	networks JSON NOT NULL,
	last_used_ms BIGINT,
	CONSTRAINT pk_api_keys PRIMARY KEY (id),
	CONSTRAINT fk_api_keys_account_id FOREIGN KEY(account_id) REFERENCES accounts (id)
);

CREATE INDEX ix_api_keys_account_id ON api_keys (account_id);

CREATE TABLE call_counts (
	account_id VARCHAR(64) NOT NULL,
	live INTEGER NOT NULL,
	until_ms BIGINT NOT NULL,
	CONSTRAINT pk_call_counts PRIMARY KEY (account_id),
	CONSTRAINT fk_call_counts_account_id FOREIGN KEY(account_id) REFERENCES accounts (id)
);

CREATE TABLE call_paces (
	account_id VARCHAR(64) NOT NULL,
	next_us BIGINT NOT NULL,
	CONSTRAINT pk_call_paces PRIMARY KEY (account_id),
	CONSTRAINT fk_call_paces_account_id FOREIGN KEY(account_id) REFERENCES accounts (id)
);

CREATE TABLE calls_asked_for (
	id BIGSERIAL NOT NULL,
	account_id VARCHAR(64) NOT NULL,
	until_ms BIGINT NOT NULL,
	CONSTRAINT pk_calls_asked_for PRIMARY KEY (id),
	CONSTRAINT fk_calls_asked_for_account_id FOREIGN KEY(account_id) REFERENCES accounts (id)
);

CREATE INDEX ix_calls_asked_for_account_id ON calls_asked_for (account_id);

CREATE TABLE cdr_agents (
	cdr_id BIGINT NOT NULL,
	agent_id VARCHAR(64) COLLATE "C" NOT NULL,
	account_id VARCHAR(64) COLLATE "C" NOT NULL,
	agent_name VARCHAR(128) COLLATE "C" NOT NULL,
	started_ms BIGINT NOT NULL,
	direction VARCHAR(8) COLLATE "C" NOT NULL,
	is_answered BOOLEAN NOT NULL,
	ring_ms BIGINT NOT NULL,
	talk_ms BIGINT NOT NULL,
	hold_ms BIGINT NOT NULL,
	marks BIGINT NOT NULL,
	CONSTRAINT pk_cdr_agents PRIMARY KEY (cdr_id, agent_id),
	CONSTRAINT fk_cdr_agents_cdr_id FOREIGN KEY(cdr_id) REFERENCES cdrs (id)
);

CREATE INDEX cdr_agents_by_agent ON cdr_agents (account_id, agent_id, started_ms, cdr_id, marks);

CREATE INDEX cdr_agents_by_name ON cdr_agents (account_id, agent_name, started_ms, cdr_id, marks);

CREATE TABLE cdr_bodies (
	cdr_id BIGINT NOT NULL,
	record BYTEA NOT NULL,
	CONSTRAINT pk_cdr_bodies PRIMARY KEY (cdr_id),
	CONSTRAINT fk_cdr_bodies_cdr_id FOREIGN KEY(cdr_id) REFERENCES cdrs (id)
);

CREATE TABLE cdr_digits (
	account_id VARCHAR(64) COLLATE "C" NOT NULL,
	started_ms BIGINT NOT NULL,
	cdr_id BIGINT NOT NULL,
	CONSTRAINT pk_cdr_digits PRIMARY KEY (account_id, started_ms, cdr_id),
	CONSTRAINT fk_cdr_digits_cdr_id FOREIGN KEY(cdr_id) REFERENCES cdrs (id)
);

CREATE TABLE cdr_numbers (
	account_id VARCHAR(64) COLLATE "C" NOT NULL,
	number VARCHAR(330) COLLATE "C" NOT NULL,
	started_ms BIGINT NOT NULL,
	cdr_id BIGINT NOT NULL,
	is_dialed BOOLEAN NOT NULL,
	marks BIGINT NOT NULL,
	CONSTRAINT pk_cdr_numbers PRIMARY KEY (account_id, number, started_ms, cdr_id, is_dialed, marks),
	CONSTRAINT fk_cdr_numbers_cdr_id FOREIGN KEY(cdr_id) REFERENCES cdrs (id)
);

CREATE TABLE contact_lists (
	id BIGSERIAL NOT NULL,
	account_id VARCHAR(64) NOT NULL,
	name VARCHAR(256) COLLATE "C" NOT NULL,
	name_key VARCHAR(768) COLLATE "C" NOT NULL,
	description VARCHAR(2000) COLLATE "C" NOT NULL,
	status VARCHAR(16) COLLATE "C" NOT NULL,
	is_default BOOLEAN NOT NULL,
	is_active BOOLEAN NOT NULL,
	is_deleted BOOLEAN NOT NULL,
	assigned_fields JSON NOT NULL,
	additional_fields JSON NOT NULL,
	contacts BIGINT NOT NULL,
	bytes BIGINT DEFAULT '0' NOT NULL,
	created_ms BIGINT NOT NULL,
	updated_ms BIGINT NOT NULL,
	CONSTRAINT pk_contact_lists PRIMARY KEY (id),
	CONSTRAINT fk_contact_lists_account_id FOREIGN KEY(account_id) REFERENCES accounts (id)
);

CREATE INDEX contact_lists_by_account ON contact_lists (account_id, id);

CREATE UNIQUE INDEX contact_lists_default ON contact_lists (account_id) WHERE is_default AND NOT is_deleted;

CREATE TABLE dnc_entries (
	account_id VARCHAR(64) NOT NULL,
	number VARCHAR(16) NOT NULL,
	provider VARCHAR(64) NOT NULL,
	is_active BOOLEAN NOT NULL,
	version BIGINT NOT NULL,
	changed_ms BIGINT NOT NULL,
	refusal VARCHAR(200) DEFAULT '' NOT NULL,
	CONSTRAINT pk_dnc_entries PRIMARY KEY (account_id, number, provider),
	CONSTRAINT fk_dnc_entries_account_id FOREIGN KEY(account_id) REFERENCES accounts (id)
);

CREATE INDEX ix_dnc_entries_account_id_version ON dnc_entries (account_id, version);

CREATE INDEX ix_dnc_entries_is_active ON dnc_entries (account_id, is_active, number, provider);

CREATE INDEX ix_dnc_entries_refused ON dnc_entries (account_id) WHERE refusal <> '';

CREATE TABLE dnc_lists (
	account_id VARCHAR(64) NOT NULL,
	since BIGINT NOT NULL,
	version BIGINT NOT NULL,
	CONSTRAINT pk_dnc_lists PRIMARY KEY (account_id),
	CONSTRAINT fk_dnc_lists_account_id FOREIGN KEY(account_id) REFERENCES accounts (id)
);

CREATE TABLE dnc_tokens (
	id VARCHAR(16) NOT NULL,
	account_id VARCHAR(64) NOT NULL,
	token_hash VARCHAR(64) NOT NULL,
	created_ms BIGINT NOT NULL,
	CONSTRAINT pk_dnc_tokens PRIMARY KEY (id),
	CONSTRAINT fk_dnc_tokens_account_id FOREIGN KEY(account_id) REFERENCES accounts (id),
	CONSTRAINT uq_dnc_tokens_token_hash UNIQUE (token_hash)
);

CREATE INDEX ix_dnc_tokens_account_id ON dnc_tokens (account_id);

CREATE TABLE document_collections (
	account_id VARCHAR(64) NOT NULL,
	kind VARCHAR(16) NOT NULL,
	version BIGINT NOT NULL,
	checksum BIGINT NOT NULL,
	count INTEGER NOT NULL,
	size BIGINT DEFAULT '0' NOT NULL,
	CONSTRAINT pk_document_collections PRIMARY KEY (account_id, kind),
	CONSTRAINT fk_document_collections_account_id FOREIGN KEY(account_id) REFERENCES accounts (id)
);

CREATE INDEX ix_document_collections_version ON document_collections (version);

CREATE TABLE documents (
	account_id VARCHAR(64) NOT NULL,
	kind VARCHAR(16) NOT NULL,
	id VARCHAR(128) COLLATE "C" NOT NULL,
	version BIGINT NOT NULL,
	body BYTEA,
	is_deleted BOOLEAN NOT NULL,
	changed_ms BIGINT NOT NULL,
	size INTEGER NOT NULL,
	summary BYTEA,
	CONSTRAINT pk_documents PRIMARY KEY (account_id, kind, id),
	CONSTRAINT fk_documents_account_id FOREIGN KEY(account_id) REFERENCES accounts (id)
);

CREATE INDEX ix_documents_account_id_kind_is_deleted_id ON documents (account_id, kind, is_deleted, id);

CREATE INDEX ix_documents_account_id_kind_version ON documents (account_id, kind, version);

CREATE INDEX ix_documents_agent ON documents (body) WHERE kind = 'agent' AND NOT is_deleted;

CREATE UNIQUE INDEX uq_documents_route ON documents (id) WHERE kind = 'route' AND NOT is_deleted;

CREATE TABLE endpoints (
	endpoint VARCHAR(80) NOT NULL,
	account_id VARCHAR(64) NOT NULL,
	created_ms BIGINT NOT NULL,
	CONSTRAINT pk_endpoints PRIMARY KEY (endpoint),
	CONSTRAINT fk_endpoints_account_id FOREIGN KEY(account_id) REFERENCES accounts (id)
);

CREATE INDEX endpoints_by_account ON endpoints (account_id, endpoint);

CREATE TABLE flow_versions (
	account_id VARCHAR(64) NOT NULL,
	flow_id VARCHAR(128) COLLATE "C" NOT NULL,
	number INTEGER NOT NULL,
	body BYTEA NOT NULL,
	made_ms BIGINT NOT NULL,
	is_published BOOLEAN NOT NULL,
	CONSTRAINT pk_flow_versions PRIMARY KEY (account_id, flow_id, number),
	CONSTRAINT fk_flow_versions_account_id FOREIGN KEY(account_id) REFERENCES accounts (id)
);

CREATE TABLE idempotency (
	account_id VARCHAR(64) NOT NULL,
	key VARCHAR(128) NOT NULL,
	asked BYTEA NOT NULL,
	answer BYTEA,
	since_ms BIGINT NOT NULL,
	CONSTRAINT pk_idempotency PRIMARY KEY (account_id, key),
	CONSTRAINT fk_idempotency_account_id FOREIGN KEY(account_id) REFERENCES accounts (id)
);

CREATE INDEX ix_idempotency_since_ms ON idempotency (since_ms);

CREATE TABLE jobs (
	id VARCHAR(32) NOT NULL,
	account_id VARCHAR(64) NOT NULL,
	kind VARCHAR(64) NOT NULL,
	state VARCHAR(16) NOT NULL,
	payload JSON NOT NULL,
	result JSON,
	error VARCHAR(512),
	done BIGINT NOT NULL,
	total BIGINT,
	attempts INTEGER NOT NULL,
	turn BIGINT DEFAULT '0' NOT NULL,
	due_ms BIGINT NOT NULL,
	owner VARCHAR(64),
	created_ms BIGINT NOT NULL,
	ended_ms BIGINT,
	CONSTRAINT pk_jobs PRIMARY KEY (id),
	CONSTRAINT fk_jobs_account_id FOREIGN KEY(account_id) REFERENCES accounts (id)
);

CREATE INDEX ix_jobs_account_id_kind ON jobs (account_id, kind, created_ms);

CREATE INDEX ix_jobs_state_due_ms ON jobs (state, due_ms);

CREATE TABLE msgapp_numbers (
	id VARCHAR(32) NOT NULL,
	account_id VARCHAR(64) NOT NULL,
	business_name VARCHAR(256) NOT NULL,
	phone_number_id VARCHAR(64) NOT NULL,
	business_msgapp_number VARCHAR(32) NOT NULL,
	flowbuilder_id VARCHAR(64),
	verified BOOLEAN NOT NULL,
	is_active BOOLEAN NOT NULL,
	via VARCHAR(16),
	created_ms BIGINT NOT NULL,
	updated_ms BIGINT NOT NULL,
	CONSTRAINT pk_msgapp_numbers PRIMARY KEY (id),
	CONSTRAINT fk_msgapp_numbers_account_id FOREIGN KEY(account_id) REFERENCES accounts (id)
);

CREATE UNIQUE INDEX msgapp_numbers_by_phone ON msgapp_numbers (account_id, phone_number_id);

CREATE INDEX msgapp_numbers_by_time ON msgapp_numbers (account_id, created_ms, id);

CREATE TABLE msgapp_templates (
	id VARCHAR(32) NOT NULL,
	account_id VARCHAR(64) NOT NULL,
	name VARCHAR(512) NOT NULL,
	language VARCHAR(16) NOT NULL,
	category VARCHAR(64) NOT NULL,
	sub_category VARCHAR(64),
	phone_number_id VARCHAR(64) NOT NULL,
	parameter_format VARCHAR(16) NOT NULL,
	platform_template_id VARCHAR(64),
	is_primary_device_delivery_only BOOLEAN NOT NULL,
	components JSON NOT NULL,
	status TEXT,
	status_reason TEXT,
	status_ms BIGINT NOT NULL,
	status_s BIGINT NOT NULL,
	created_ms BIGINT NOT NULL,
	updated_ms BIGINT NOT NULL,
	CONSTRAINT pk_msgapp_templates PRIMARY KEY (id),
	CONSTRAINT fk_msgapp_templates_account_id FOREIGN KEY(account_id) REFERENCES accounts (id)
);

CREATE UNIQUE INDEX msgapp_templates_by_name ON msgapp_templates (account_id, name, language);

CREATE INDEX msgapp_templates_by_platform ON msgapp_templates (platform_template_id, account_id);

CREATE INDEX msgapp_templates_by_time ON msgapp_templates (account_id, created_ms, id);

CREATE TABLE numbers (
	number VARCHAR(32) NOT NULL,
	account_id VARCHAR(64) NOT NULL,
	created_ms BIGINT NOT NULL,
	CONSTRAINT pk_numbers PRIMARY KEY (number),
	CONSTRAINT fk_numbers_account_id FOREIGN KEY(account_id) REFERENCES accounts (id)
);

CREATE INDEX numbers_by_account ON numbers (account_id, number);

CREATE TABLE contact_downloads (
	job_id VARCHAR(32) NOT NULL,
	list_id BIGINT NOT NULL,
	CONSTRAINT pk_contact_downloads PRIMARY KEY (job_id),
	CONSTRAINT fk_contact_downloads_job_id FOREIGN KEY(job_id) REFERENCES jobs (id),
	CONSTRAINT fk_contact_downloads_list_id FOREIGN KEY(list_id) REFERENCES contact_lists (id)
);

CREATE INDEX ix_contact_downloads_list_id ON contact_downloads (list_id);

CREATE TABLE contact_files (
	id BIGSERIAL NOT NULL,
	account_id VARCHAR(64) COLLATE "C" NOT NULL,
	list_id BIGINT,
	name VARCHAR(255) COLLATE "C" NOT NULL,
	bytes BIGINT NOT NULL,
	rows BIGINT NOT NULL,
	kind VARCHAR(8) COLLATE "C" NOT NULL,
	encoding VARCHAR(32) COLLATE "C",
	delimiter VARCHAR(1) COLLATE "C",
	header_row INTEGER DEFAULT '1' NOT NULL,
	headers JSON NOT NULL,
	sample JSON NOT NULL,
	mappings JSON,
	uploaded_ms BIGINT NOT NULL,
	CONSTRAINT pk_contact_files PRIMARY KEY (id),
	CONSTRAINT uq_contact_files_list_id UNIQUE (list_id),
	CONSTRAINT fk_contact_files_list_id FOREIGN KEY(list_id) REFERENCES contact_lists (id)
);

CREATE TABLE contact_imports (
	job_id VARCHAR(32) NOT NULL,
	list_id BIGINT NOT NULL,
	action VARCHAR(8) COLLATE "C" NOT NULL,
	rows BIGINT NOT NULL,
	added BIGINT NOT NULL,
	updated BIGINT NOT NULL,
	skipped BIGINT NOT NULL,
	rejected BIGINT NOT NULL,
	rejected_bytes BIGINT DEFAULT '0' NOT NULL,
	started_ms BIGINT NOT NULL,
	CONSTRAINT pk_contact_imports PRIMARY KEY (job_id),
	CONSTRAINT fk_contact_imports_job_id FOREIGN KEY(job_id) REFERENCES jobs (id),
	CONSTRAINT fk_contact_imports_list_id FOREIGN KEY(list_id) REFERENCES contact_lists (id) ON DELETE CASCADE
);

CREATE INDEX ix_contact_imports_list_id ON contact_imports (list_id);

CREATE TABLE contact_list_tags (
	list_id BIGINT NOT NULL,
	tag_id VARCHAR(64) COLLATE "C" NOT NULL,
	CONSTRAINT pk_contact_list_tags PRIMARY KEY (list_id, tag_id),
	CONSTRAINT fk_contact_list_tags_list_id FOREIGN KEY(list_id) REFERENCES contact_lists (id) ON DELETE CASCADE
);

CREATE TABLE contacts (
	id BIGSERIAL NOT NULL,
	account_id VARCHAR(64) COLLATE "C" NOT NULL,
	list_id BIGINT NOT NULL,
	phone_number VARCHAR(16) COLLATE "C" NOT NULL,
	f_name VARCHAR(128) COLLATE "C",
	l_name VARCHAR(128) COLLATE "C",
	email VARCHAR(254) COLLATE "C",
	f_name_key VARCHAR(128) COLLATE "C",
	l_name_key VARCHAR(128) COLLATE "C",
	email_key VARCHAR(128) COLLATE "C",
	fields TEXT,
	call_status VARCHAR(64) COLLATE "C",
	add_to_running_campaign BOOLEAN NOT NULL,
	created_ms BIGINT NOT NULL,
	updated_ms BIGINT NOT NULL,
	CONSTRAINT pk_contacts PRIMARY KEY (id),
	CONSTRAINT fk_contacts_list_id FOREIGN KEY(list_id) REFERENCES contact_lists (id)
);

CREATE INDEX contacts_by_account ON contacts (account_id, id);

CREATE INDEX contacts_by_email_key ON contacts (account_id, email_key, list_id, id) WHERE email_key IS NOT NULL;

CREATE INDEX contacts_by_f_name_key ON contacts (account_id, f_name_key, l_name_key, list_id, id) WHERE f_name_key IS NOT NULL;

CREATE INDEX contacts_by_l_name_key ON contacts (account_id, l_name_key, f_name_key, list_id, id) WHERE l_name_key IS NOT NULL;

CREATE INDEX contacts_by_list ON contacts (list_id, id);

CREATE UNIQUE INDEX contacts_by_list_number ON contacts (list_id, phone_number);

CREATE INDEX contacts_by_number ON contacts (account_id, phone_number, list_id, id);

CREATE TABLE job_parts (
	job_id VARCHAR(32) NOT NULL,
	part INTEGER NOT NULL,
	rows INTEGER NOT NULL,
	last_key BIGINT NOT NULL,
	last_id BIGINT NOT NULL,
	made_ms BIGINT NOT NULL,
	body BYTEA NOT NULL,
	CONSTRAINT pk_job_parts PRIMARY KEY (job_id, part),
	CONSTRAINT fk_job_parts_job_id FOREIGN KEY(job_id) REFERENCES jobs (id)
);

CREATE INDEX ix_job_parts_made_ms ON job_parts (made_ms);

CREATE TABLE contact_events (
	id BIGSERIAL NOT NULL,
	account_id VARCHAR(64) NOT NULL,
	contact_id BIGINT NOT NULL,
	event VARCHAR(32) COLLATE "C" NOT NULL,
	created_ms BIGINT NOT NULL,
	CONSTRAINT pk_contact_events PRIMARY KEY (id),
	CONSTRAINT fk_contact_events_account_id FOREIGN KEY(account_id) REFERENCES accounts (id),
	CONSTRAINT fk_contact_events_contact_id FOREIGN KEY(contact_id) REFERENCES contacts (id) ON DELETE CASCADE
);

CREATE INDEX contact_events_by_account ON contact_events (account_id, id);

CREATE INDEX ix_contact_events_contact_id ON contact_events (contact_id);

CREATE INDEX ix_contact_events_created_ms ON contact_events (created_ms);

CREATE TABLE contact_file_parts (
	file_id BIGINT NOT NULL,
	part INTEGER NOT NULL,
	body BYTEA NOT NULL,
	CONSTRAINT pk_contact_file_parts PRIMARY KEY (file_id, part),
	CONSTRAINT fk_contact_file_parts_file_id FOREIGN KEY(file_id) REFERENCES contact_files (id) ON DELETE CASCADE
);

CREATE TABLE contact_rejects (
	job_id VARCHAR(32) NOT NULL,
	line BIGINT NOT NULL,
	reason VARCHAR(256) COLLATE "C" NOT NULL,
	cells TEXT NOT NULL,
	CONSTRAINT pk_contact_rejects PRIMARY KEY (job_id, line),
	CONSTRAINT fk_contact_rejects_job_id FOREIGN KEY(job_id) REFERENCES contact_imports (job_id) ON DELETE CASCADE
);

CREATE TABLE contact_tags (
	list_id BIGINT NOT NULL,
	tag_id VARCHAR(64) COLLATE "C" NOT NULL,
	contact_id BIGINT NOT NULL,
	CONSTRAINT pk_contact_tags PRIMARY KEY (list_id, tag_id, contact_id),
	CONSTRAINT fk_contact_tags_contact_id FOREIGN KEY(contact_id) REFERENCES contacts (id) ON DELETE CASCADE
);

CREATE INDEX contact_tags_by_contact ON contact_tags (contact_id, tag_id);
