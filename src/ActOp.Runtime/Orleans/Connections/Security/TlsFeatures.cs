#pragma warning disable SYSLIB0058 // The algorithms apart from the cipher suite: members of the contract, which .NET still answers.
using System.Net.Security;
using System.Security.Authentication;
using System.Security.Cryptography.X509Certificates;

namespace Orleans.Connections.Security;

/// <summary>The certificate of the other end; among the features of a connection with TLS.</summary>
public interface ITlsConnectionFeature
{
    /// <summary>The certificate that the other end has shown; null if it has shown none.</summary>
    X509Certificate2? RemoteCertificate { get; set; }

    /// <summary>The certificate that the other end has shown.</summary>
    Task<X509Certificate2?> GetRemoteCertificateAsync(CancellationToken cancellationToken);
}

/// <summary>The result of the handshake of TLS; among the features of a connection with TLS.</summary>
public interface ITlsHandshakeFeature
{
    /// <summary>The version of TLS.</summary>
    SslProtocols Protocol { get; }

    /// <summary>The cipher suite.</summary>
    TlsCipherSuite? NegotiatedCipherSuite => null;

    /// <summary>The name that the dialler has expected, if it has told it.</summary>
    string HostName => string.Empty;

    /// <summary>The cipher.</summary>
    CipherAlgorithmType CipherAlgorithm { get; }

    /// <summary>The bits of the cipher.</summary>
    int CipherStrength { get; }

    /// <summary>The hash.</summary>
    HashAlgorithmType HashAlgorithm { get; }

    /// <summary>The bits of the hash.</summary>
    int HashStrength { get; }

    /// <summary>The exchange of keys.</summary>
    ExchangeAlgorithmType KeyExchangeAlgorithm { get; }

    /// <summary>The bits of the exchange of keys.</summary>
    int KeyExchangeStrength { get; }
}

/// <summary>The protocol that both ends have agreed on in the handshake of TLS (ALPN).</summary>
public interface ITlsApplicationProtocolFeature
{
    /// <summary>The name of the protocol; empty if there was no agreement.</summary>
    ReadOnlyMemory<byte> ApplicationProtocol { get; }
}
