//! The object store behind a URL.
//!
//! Nothing but what the URL and the user's own variables name is contacted: where no credentials are
//! given, requests are not signed, and no service of the machine that might have some is asked.

use crate::{Result, ShareError};
use futures_util::{StreamExt, TryStreamExt};
use object_store::path::Path;
use object_store::{
    BackoffConfig, ClientOptions, Error, ObjectMeta, ObjectStore, ObjectStoreExt, PutPayload, RetryConfig,
    aws, azure, gcp, http, local,
};
use std::sync::Arc;
use std::time::Duration;
use url::Url;

/// Time limits of requests.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Patience {
    /// Somebody asked for exactly this.
    Asked,
    /// Something else waits for it.
    Short,
}

/// A store, and the folder in it that the URL names.
pub struct Remote {
    store: Arc<dyn ObjectStore>,
    /// Whether the objects are files of a folder of this machine.
    is_folder: bool,
    folder: Path,
    url: String,
    is_writable: bool,
}

/// Variables of which one says where credentials come from, by scheme.
const S3_CREDENTIALS: [&str; 4] = [
    "AWS_ACCESS_KEY_ID",
    "AWS_WEB_IDENTITY_TOKEN_FILE",
    "AWS_CONTAINER_CREDENTIALS_RELATIVE_URI",
    "AWS_CONTAINER_CREDENTIALS_FULL_URI",
];
const GS_CREDENTIALS: [&str; 5] = [
    "GOOGLE_SERVICE_ACCOUNT",
    "GOOGLE_SERVICE_ACCOUNT_PATH",
    "GOOGLE_SERVICE_ACCOUNT_KEY",
    "GOOGLE_APPLICATION_CREDENTIALS",
    "SERVICE_ACCOUNT",
];
const AZ_CREDENTIALS: [&str; 6] = [
    "AZURE_STORAGE_ACCOUNT_KEY",
    "AZURE_STORAGE_ACCESS_KEY",
    "AZURE_STORAGE_SAS_KEY",
    "AZURE_STORAGE_SAS_TOKEN",
    "AZURE_STORAGE_CLIENT_SECRET",
    "AZURE_FEDERATED_TOKEN_FILE",
];

fn is_any_set(names: &[&str]) -> bool {
    names.iter().any(|name| std::env::var_os(name).is_some_and(|value| !value.is_empty()))
}

impl Patience {
    fn client(self) -> ClientOptions {
        let (connect, read) = match self {
            Self::Asked => (10, 30),
            Self::Short => (2, 3),
        };
        ClientOptions::new()
            .with_connect_timeout(Duration::from_secs(connect))
            .with_read_timeout(Duration::from_secs(read))
            // A large object may take long, as long as bytes come.
            .with_timeout_disabled()
    }

    fn retry(self) -> RetryConfig {
        let (max_retries, timeout) = match self {
            Self::Asked => (4, 60),
            Self::Short => (0, 4),
        };
        let backoff = BackoffConfig { init_backoff: Duration::from_millis(200), ..BackoffConfig::default() };
        RetryConfig { backoff, max_retries, retry_timeout: Duration::from_secs(timeout) }
    }
}

type Built = object_store::Result<Arc<dyn ObjectStore>>;

fn s3(url: &Url, patience: Patience) -> Built {
    let endpoint = ["AWS_ENDPOINT_URL_S3", "AWS_ENDPOINT_URL", "AWS_ENDPOINT"];
    let endpoint = endpoint.iter().find_map(|name| std::env::var(name).ok());
    // An endpoint with http was written by the user.
    let is_plain = endpoint.as_ref().is_some_and(|endpoint| endpoint.starts_with("http://"));
    let mut builder = aws::AmazonS3Builder::from_env()
        .with_url(url.as_str())
        .with_client_options(patience.client().with_allow_http(is_plain))
        .with_retry(patience.retry())
        .with_skip_signature(!is_any_set(&S3_CREDENTIALS));
    if let Some(endpoint) = endpoint {
        builder = builder.with_endpoint(endpoint);
    }
    Ok(Arc::new(builder.build()?))
}

fn gs(url: &Url, patience: Patience) -> Built {
    let builder = gcp::GoogleCloudStorageBuilder::from_env()
        .with_url(url.as_str())
        .with_client_options(patience.client())
        .with_retry(patience.retry())
        .with_skip_signature(!is_any_set(&GS_CREDENTIALS));
    Ok(Arc::new(builder.build()?))
}

fn az(url: &Url, patience: Patience) -> Built {
    let builder = azure::MicrosoftAzureBuilder::from_env()
        .with_url(url.as_str())
        .with_client_options(patience.client())
        .with_retry(patience.retry())
        .with_skip_signature(!is_any_set(&AZ_CREDENTIALS));
    Ok(Arc::new(builder.build()?))
}

/// A server of files.
fn plain(url: &Url, patience: Patience, is_plain: bool) -> Built {
    let builder = http::HttpBuilder::new()
        .with_url(&url[..url::Position::BeforePath])
        .with_client_options(patience.client().with_allow_http(is_plain))
        .with_retry(patience.retry());
    Ok(Arc::new(builder.build()?))
}

fn is_here(url: &Url) -> bool {
    matches!(url.host_str(), Some("localhost" | "127.0.0.1" | "[::1]"))
}

impl Remote {
    /// Opens what a URL names. Nothing is asked of it yet.
    ///
    /// # Errors
    /// [`ShareError::Url`] for a URL of another kind, one with a password in it, and settings in the
    /// environment that make no store.
    pub fn open(text: &str, patience: Patience) -> Result<Self> {
        let bad = |what: String| ShareError::Url(what);
        let url = Url::parse(text).map_err(|e| bad(format!("{text:?} is not a URL: {e}")))?;
        if !url.username().is_empty() || url.password().is_some() || url.query().is_some() {
            return Err(bad(
                "a URL with credentials in it is refused: they belong into the environment".into()
            ));
        }
        // Another part of the process may have named one before.
        let _ = rustls::crypto::ring::default_provider().install_default();
        let folder = Path::from_url_path(url.path()).map_err(|e| bad(e.to_string()))?;
        let built: Built = match url.scheme() {
            "file" if url.host_str().is_none_or(str::is_empty) => {
                Ok(Arc::new(local::LocalFileSystem::new()) as _)
            }
            "s3" | "s3a" => s3(&url, patience),
            "gs" => gs(&url, patience),
            "az" => az(&url, patience),
            "https" => plain(&url, patience, false),
            "http" if is_here(&url) => plain(&url, patience, true),
            "http" => {
                let what = "http is for this machine only: anybody on the way could change what comes";
                return Err(bad(what.to_owned()));
            }
            other => {
                let known = "s3://BUCKET/FOLDER, gs://, az://, file:///FOLDER or https://";
                return Err(bad(format!("{other}:// is not a store that is known; write {known}")));
            }
        };
        let store = built.map_err(|e| bad(format!("{url} cannot be used: {}", innermost(&e))))?;
        let is_writable = !url.scheme().starts_with("http");
        Ok(Self { store, is_folder: url.scheme() == "file", folder, url: url.to_string(), is_writable })
    }

    /// The URL, which holds no credentials.
    pub fn url(&self) -> &str {
        &self.url
    }

    /// That it takes objects.
    ///
    /// # Errors
    /// [`ShareError::ReadOnly`].
    pub fn check_writable(&self) -> Result<()> {
        if self.is_writable { Ok(()) } else { Err(ShareError::ReadOnly(self.url.clone())) }
    }

    fn path(&self, key: &str) -> Path {
        key.split('/').fold(self.folder.clone(), |path, part| path.join(part))
    }

    /// False for what is in the place of an object and is not a file: who opens a pipe waits for ever.
    fn may_open(&self, path: &Path) -> bool {
        !self.is_folder
            || local::LocalFileSystem::new()
                .path_to_filesystem(path)
                .is_ok_and(|file| std::fs::metadata(file).map_or(true, |meta| meta.is_file()))
    }

    /// The object under a key, which has at most `bytes_max` bytes; none if there is none.
    ///
    /// # Errors
    /// Those of the store, [`ShareError::Damaged`] for a larger one.
    pub async fn get(&self, key: &str, bytes_max: u64) -> Result<Option<Vec<u8>>> {
        let too_large = || ShareError::Damaged(format!("{key} is larger than it may be"));
        let path = self.path(key);
        if !self.may_open(&path) {
            return Ok(None);
        }
        let found = match self.store.get(&path).await {
            Err(Error::NotFound { .. }) => return Ok(None),
            found => found.map_err(|e| explain(&e))?,
        };
        if found.meta.size > bytes_max {
            return Err(too_large());
        }
        let mut stream = found.into_stream();
        let mut bytes = Vec::new();
        while let Some(part) = stream.next().await {
            bytes.extend_from_slice(&part.map_err(|e| explain(&e))?);
            // A store that says one size may send another.
            if bytes.len() as u64 > bytes_max {
                return Err(too_large());
            }
        }
        Ok(Some(bytes))
    }

    /// Puts an object, in the place of one that is there.
    ///
    /// # Errors
    /// Those of the store.
    pub async fn put(&self, key: &str, bytes: Vec<u8>) -> Result<()> {
        let put = self.store.put(&self.path(key), PutPayload::from(bytes)).await;
        put.map(drop).map_err(|e| explain(&e))
    }

    /// Size and time of an object; none where there is none.
    ///
    /// # Errors
    /// Those of the store.
    pub async fn head(&self, key: &str) -> Result<Option<ObjectMeta>> {
        let path = self.path(key);
        if !self.may_open(&path) {
            return Ok(None);
        }
        match self.store.head(&path).await {
            Err(Error::NotFound { .. }) => Ok(None),
            found => found.map(Some).map_err(|e| explain(&e)),
        }
    }

    /// The objects below a key, in no order, with their keys.
    ///
    /// # Errors
    /// Those of the store; one over `https` can list nothing.
    pub async fn list(&self, key: &str) -> Result<Vec<(String, ObjectMeta)>> {
        if !self.is_writable {
            return Ok(Vec::new());
        }
        let folder = self.path(key);
        let all = self.store.list(Some(&folder)).try_collect::<Vec<_>>().await;
        let all = match all {
            Err(Error::NotFound { .. }) => Vec::new(),
            all => all.map_err(|e| explain(&e))?,
        };
        let key_of = |meta: ObjectMeta| {
            let rest: Vec<String> =
                meta.location.prefix_match(&self.folder)?.map(|part| part.as_ref().to_owned()).collect();
            Some((rest.join("/"), meta))
        };
        Ok(all.into_iter().filter_map(key_of).collect())
    }

    /// Removes an object; one that is not there is removed.
    ///
    /// # Errors
    /// Those of the store.
    pub async fn delete(&self, key: &str) -> Result<()> {
        match self.store.delete(&self.path(key)).await {
            Err(Error::NotFound { .. }) => Ok(()),
            done => done.map_err(|e| explain(&e)),
        }
    }
}

/// Codes of a store for expired or unknown credentials, some of which come with status 400.
const DENIALS: [&str; 5] =
    ["ExpiredToken", "InvalidAccessKeyId", "SignatureDoesNotMatch", "AccessDenied", "AuthenticationFailed"];

fn explain(e: &Error) -> ShareError {
    let said = innermost(e);
    let whole = format!("{e:?}");
    let is_denied = matches!(e, Error::PermissionDenied { .. } | Error::Unauthenticated { .. })
        || DENIALS.iter().any(|word| whole.contains(word));
    if is_denied { ShareError::Denied(said) } else { ShareError::Unreachable(said) }
}

/// Bytes of what a store says that are passed on.
const SAID_BYTES: usize = 300;

/// The first line of the error at the bottom, which is the most specific one, without the signature of a URL.
fn innermost(e: &Error) -> String {
    let mut e: &dyn std::error::Error = e;
    while let Some(source) = e.source() {
        e = source;
    }
    let text = e.to_string();
    let words = text.split_whitespace().map(|word| word.split('?').next().unwrap_or(word));
    let line = words.collect::<Vec<_>>().join(" ");
    line.chars().take(SAID_BYTES).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_url_of_another_kind_or_with_a_secret_is_refused() {
        for (url, why) in [
            ("nothing", "is not a URL"),
            ("ftp://host/x", "is not a store"),
            ("https://me:secret@host/x", "credentials"),
            ("https://host/x?sig=secret", "credentials"),
            ("http://example.org/x", "this machine only"),
        ] {
            let said = match Remote::open(url, Patience::Asked) {
                Ok(_) => String::new(),
                Err(e) => e.to_string(),
            };
            assert!(said.contains(why), "{url}: {said}");
            assert!(!said.contains("secret"), "{said}");
        }
        for url in ["file:///tmp/x", "https://example.org/x", "http://localhost:1/x"] {
            assert!(Remote::open(url, Patience::Short).is_ok(), "{url}");
        }
    }
}
