namespace Orleans.Runtime;

/// <summary>The silo of this process.</summary>
public interface ILocalSiloDetails
{
    /// <summary>Its cluster.</summary>
    string ClusterId { get; }

    /// <summary>Its machine's name.</summary>
    string DnsHostName { get; }

    /// <summary>Where it listens for clients.</summary>
    SiloAddress GatewayAddress { get; }

    /// <summary>Its name.</summary>
    string Name { get; }

    /// <summary>Its address.</summary>
    SiloAddress SiloAddress { get; }
}
