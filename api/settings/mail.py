"""Settings of the mail server."""

from pydantic import BaseModel, Field, SecretStr

from api.common.mail import MailServer, Security


class MailSettings(BaseModel):
    """E-mail."""

    smtp_host: str = Field(
        "", description="Mail server that sends exports; without one, no e-mail is sent."
    )
    smtp_port: int = Field(587, ge=1, le=65535, description="Its port.")
    smtp_security: Security = Field("starttls", description="Encryption of the connection to it.")
    smtp_user: str = Field("", description="User name there; empty: no login.")
    smtp_password: SecretStr = Field(SecretStr(""), description="Password there.")
    smtp_from: str = Field("switchroom@localhost", description="Sender of e-mails.")
    smtp_max_bytes: int = Field(
        10_000_000, ge=1_024, description="Size of an attachment; larger files are not sent."
    )

    @property
    def mail(self) -> MailServer | None:
        """The mail server, if one is configured."""
        if not self.smtp_host:
            return None
        return MailServer(
            host=self.smtp_host,
            port=self.smtp_port,
            security=self.smtp_security,
            user=self.smtp_user,
            password=self.smtp_password.get_secret_value(),
            sender=self.smtp_from,
            max_bytes=self.smtp_max_bytes,
        )
