namespace Orleans;

/// <summary>A connection to the cluster for code outside of the grains.</summary>
public interface IClusterClient : IGrainFactory
{
    /// <summary>The client's services.</summary>
    IServiceProvider ServiceProvider { get; }
}
