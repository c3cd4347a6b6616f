using ActOp.Configuration;

namespace Orleans.Hosting;

/// <summary>Who may connect to a cluster.</summary>
public static class ClusterSecurityExtensions
{
    /// <summary>
    /// Silos and clients must know this secret to connect, and prove it to each other without sending it. All silos need the same.
    /// </summary>
    /// <param name="builder">The silo.</param>
    /// <param name="secret">At least 16 bytes; should be random.</param>
    /// <param name="clientSecret">
    /// What clients must know instead, so that they do not know the secret of the silos; null for the same secret.
    /// </param>
    public static ISiloBuilder UseClusterSecret(this ISiloBuilder builder, string secret, string? clientSecret = null)
    {
        ArgumentException.ThrowIfNullOrEmpty(secret);
        return builder.Configure<ClusterSecurityOptions>(options =>
        {
            options.Secret = secret;
            options.ClientSecret = clientSecret;
        });
    }

    /// <summary>The client proves that it knows this secret, and connects only to silos that prove it too.</summary>
    /// <param name="builder">The client.</param>
    /// <param name="secret">The secret for clients of the cluster, or the one of the silos if there is none.</param>
    public static IClientBuilder UseClusterSecret(this IClientBuilder builder, string secret)
    {
        ArgumentException.ThrowIfNullOrEmpty(secret);
        return builder.Configure<ClusterSecurityOptions>(options => options.ClientSecret = secret);
    }
}
