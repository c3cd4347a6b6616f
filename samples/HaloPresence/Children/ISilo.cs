namespace HaloPresence.Children;

/// <summary>A running silo; disposing it stops it gracefully.</summary>
public interface ISilo : IAsyncDisposable
{
    /// <summary>Reads the counters; time, processor time and allocations are filled in by the caller.</summary>
    SiloSample Read(SiloSample sample);
}
