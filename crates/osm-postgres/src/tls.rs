//! Encryption by rustls, as the `sslmode` of libpq means it.
//!
//! Without a root certificate, `prefer` and `require` encrypt and do not check who answers, as in libpq. The names
//! in a certificate count only as "subject alternative names": rustls does not read the common name.

use std::fmt;
use std::fs;
use std::future::Future;
use std::io;
use std::path::Path;
use std::pin::Pin;
use std::sync::Arc;
use std::task::{Context, Poll};

use rustls::client::WebPkiServerVerifier;
use rustls::client::danger::{HandshakeSignatureValid, ServerCertVerified, ServerCertVerifier};
use rustls::crypto::{CryptoProvider, verify_tls12_signature, verify_tls13_signature};
use rustls::pki_types::pem::PemObject;
use rustls::pki_types::{CertificateDer, PrivateKeyDer, ServerName, UnixTime};
use rustls::{
    CertificateError, ClientConfig, DigitallySignedStruct, RootCertStore, SignatureScheme,
};
use tokio::io::{AsyncRead, AsyncWrite, ReadBuf};
use tokio_postgres::tls::{ChannelBinding, MakeTlsConnect, TlsConnect, TlsStream};
use tokio_rustls::TlsConnector;

use crate::error::{Error, Kind, Result};
use crate::server::{Certificates, Server, SslMode};

/// Where systems keep the certificates of the authorities that they trust.
const SYSTEM_ROOTS: &[&str] = &[
    "/etc/ssl/certs/ca-certificates.crt",
    "/etc/pki/tls/certs/ca-bundle.crt",
    "/etc/ssl/ca-bundle.pem",
    "/etc/ssl/cert.pem",
    "/usr/local/share/certs/ca-root-nss.crt",
];

/// The name of a host cannot be checked.
#[derive(Debug)]
pub(crate) struct Refused(String);

impl fmt::Display for Refused {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.0)
    }
}

impl std::error::Error for Refused {}

/// Makes encrypted connections.
#[derive(Clone)]
pub(crate) struct Tls(Arc<ClientConfig>);

impl Tls {
    /// As a server is to be connected to; files are read now.
    pub(crate) fn new(server: &Server) -> Result<Self> {
        let provider = Arc::new(rustls::crypto::ring::default_provider());
        config(server.ssl_mode(), server.certificates(), provider)
            .map(|config| Self(Arc::new(config)))
            .map_err(|reason| Error::new(Kind::Tls, server, reason))
    }
}

fn config(
    mode: SslMode,
    files: &Certificates,
    provider: Arc<CryptoProvider>,
) -> std::result::Result<ClientConfig, String> {
    let checks = match (mode, &files.root) {
        (SslMode::VerifyCa | SslMode::VerifyFull, None) => {
            return Err(
                "sslmode verify-ca and verify-full need sslrootcert, a file or \"system\"".into()
            );
        }
        (SslMode::Disable | SslMode::Prefer, _) | (_, None) => None,
        (_, Some(file)) => {
            let roots = Arc::new(roots(file)?);
            let builder = WebPkiServerVerifier::builder_with_provider(roots, Arc::clone(&provider));
            Some(builder.build().map_err(|error| format!("{}: {error}", file.display()))?)
        }
    };
    let checks_name = mode == SslMode::VerifyFull;
    let verifier = Arc::new(Verifier { checks, checks_name, provider: Arc::clone(&provider) });
    let builder = ClientConfig::builder_with_provider(provider)
        .with_safe_default_protocol_versions()
        .map_err(|error| error.to_string())?
        .dangerous()
        .with_custom_certificate_verifier(verifier);
    let Some((certificate, key)) = &files.client else {
        return Ok(builder.with_no_client_auth());
    };
    let key = PrivateKeyDer::from_pem_slice(&read(key)?)
        .map_err(|error| format!("cannot read key {}: {error}", key.display()))?;
    builder
        .with_client_auth_cert(certificates(certificate)?, key)
        .map_err(|error| format!("cannot use certificate {}: {error}", certificate.display()))
}

fn read(file: &Path) -> std::result::Result<Vec<u8>, String> {
    fs::read(file).map_err(|error| format!("cannot read {}: {error}", file.display()))
}

fn certificates(file: &Path) -> std::result::Result<Vec<CertificateDer<'static>>, String> {
    let all: std::result::Result<Vec<_>, _> =
        CertificateDer::pem_slice_iter(&read(file)?).collect();
    match all {
        Ok(all) if all.is_empty() => Err(format!("{} has no certificate in it", file.display())),
        Ok(all) => Ok(all),
        Err(error) => Err(format!("cannot read certificates of {}: {error}", file.display())),
    }
}

fn roots(file: &Path) -> std::result::Result<RootCertStore, String> {
    let mut store = RootCertStore::empty();
    let file = if file == Path::new("system") {
        let found = SYSTEM_ROOTS.iter().map(Path::new).find(|path| path.is_file());
        found.ok_or("sslrootcert=system: the system's certificates were not found; name a file")?
    } else {
        file
    };
    // A bundle of a system may have certificates that rustls does not read.
    let (added, _) = store.add_parsable_certificates(certificates(file)?);
    if added == 0 {
        return Err(format!("{} has no certificate of an authority in it", file.display()));
    }
    Ok(store)
}

/// Checks the certificate as far as the mode asks for it, and always that the server has its key.
#[derive(Debug)]
struct Verifier {
    checks: Option<Arc<WebPkiServerVerifier>>,
    checks_name: bool,
    provider: Arc<CryptoProvider>,
}

impl ServerCertVerifier for Verifier {
    fn verify_server_cert(
        &self,
        certificate: &CertificateDer<'_>,
        chain: &[CertificateDer<'_>],
        name: &ServerName<'_>,
        status: &[u8],
        now: UnixTime,
    ) -> std::result::Result<ServerCertVerified, rustls::Error> {
        let Some(checks) = &self.checks else { return Ok(ServerCertVerified::assertion()) };
        match checks.verify_server_cert(certificate, chain, name, status, now) {
            // The name is looked at last.
            Err(rustls::Error::InvalidCertificate(
                CertificateError::NotValidForName | CertificateError::NotValidForNameContext { .. },
            )) if !self.checks_name => Ok(ServerCertVerified::assertion()),
            result => result,
        }
    }

    fn verify_tls12_signature(
        &self,
        message: &[u8],
        certificate: &CertificateDer<'_>,
        signature: &DigitallySignedStruct,
    ) -> std::result::Result<HandshakeSignatureValid, rustls::Error> {
        let algorithms = &self.provider.signature_verification_algorithms;
        verify_tls12_signature(message, certificate, signature, algorithms)
    }

    fn verify_tls13_signature(
        &self,
        message: &[u8],
        certificate: &CertificateDer<'_>,
        signature: &DigitallySignedStruct,
    ) -> std::result::Result<HandshakeSignatureValid, rustls::Error> {
        let algorithms = &self.provider.signature_verification_algorithms;
        verify_tls13_signature(message, certificate, signature, algorithms)
    }

    fn supported_verify_schemes(&self) -> Vec<SignatureScheme> {
        self.provider.signature_verification_algorithms.supported_schemes()
    }
}

type BoxedError = Box<dyn std::error::Error + Send + Sync>;

impl<S: AsyncRead + AsyncWrite + Unpin + Send + 'static> MakeTlsConnect<S> for Tls {
    type Stream = Encrypted<S>;
    type TlsConnect = Handshake;
    type Error = Refused;

    fn make_tls_connect(&mut self, host: &str) -> std::result::Result<Handshake, Refused> {
        let name = ServerName::try_from(host.to_owned());
        let name = name.map_err(|_| Refused(format!("{host:?} is not a host name")))?;
        Ok(Handshake { connector: TlsConnector::from(Arc::clone(&self.0)), name })
    }
}

pub(crate) struct Handshake {
    connector: TlsConnector,
    name: ServerName<'static>,
}

impl<S: AsyncRead + AsyncWrite + Unpin + Send + 'static> TlsConnect<S> for Handshake {
    type Stream = Encrypted<S>;
    type Error = BoxedError;
    type Future =
        Pin<Box<dyn Future<Output = std::result::Result<Encrypted<S>, BoxedError>> + Send>>;

    fn connect(self, stream: S) -> Self::Future {
        Box::pin(async move { Ok(Encrypted(self.connector.connect(self.name, stream).await?)) })
    }
}

pub(crate) struct Encrypted<S>(tokio_rustls::client::TlsStream<S>);

impl<S: AsyncRead + AsyncWrite + Unpin> TlsStream for Encrypted<S> {
    fn channel_binding(&self) -> ChannelBinding {
        ChannelBinding::none()
    }
}

impl<S: AsyncRead + AsyncWrite + Unpin> AsyncRead for Encrypted<S> {
    fn poll_read(
        mut self: Pin<&mut Self>,
        context: &mut Context<'_>,
        buffer: &mut ReadBuf<'_>,
    ) -> Poll<io::Result<()>> {
        Pin::new(&mut self.0).poll_read(context, buffer)
    }
}

impl<S: AsyncRead + AsyncWrite + Unpin> AsyncWrite for Encrypted<S> {
    fn poll_write(
        mut self: Pin<&mut Self>,
        context: &mut Context<'_>,
        bytes: &[u8],
    ) -> Poll<io::Result<usize>> {
        Pin::new(&mut self.0).poll_write(context, bytes)
    }

    fn poll_flush(mut self: Pin<&mut Self>, context: &mut Context<'_>) -> Poll<io::Result<()>> {
        Pin::new(&mut self.0).poll_flush(context)
    }

    fn poll_shutdown(mut self: Pin<&mut Self>, context: &mut Context<'_>) -> Poll<io::Result<()>> {
        Pin::new(&mut self.0).poll_shutdown(context)
    }
}
