using Orleans.Runtime;
using Orleans.Storage;

namespace ActOp.Configuration;

/// <summary>States in files: one file per state, for silos that share a machine or a directory with file locks.</summary>
public sealed class FileGrainStorageOptions : IStorageProviderSerializerOptions
{
    /// <summary>
    /// The directory, which is created if it does not exist. Each storage has a directory of its own in it, so several can have the same
    /// root. Default: "grain-state" in the current directory.
    /// </summary>
    public string RootDirectory { get; set; } = "grain-state";

    /// <summary>How many operations run at a time, each on a thread of the storage: 1 to 256. Default: 4.</summary>
    public int Threads { get; set; } = 4;

    /// <summary>How many operations may wait for a thread. One more is refused. Default: 100,000.</summary>
    public int MaxWaiting { get; set; } = 100_000;

    /// <summary>How long a write waits while another process writes a file nearby. Default: 10 seconds.</summary>
    public TimeSpan LockTimeout { get; set; } = TimeSpan.FromSeconds(10);

    /// <summary>The stage of the silo's start in which the directory is opened.</summary>
    public int InitStage { get; set; } = Orleans.ServiceLifecycleStage.ApplicationServices;

    /// <summary>The form of the states. By default the registered one, which is JSON.</summary>
    public IGrainStorageSerializer GrainStorageSerializer { get; set; } = default!;

    /// <exception cref="OrleansConfigurationException">An option has no sense.</exception>
    internal void Validate(string name)
    {
        if (string.IsNullOrWhiteSpace(RootDirectory))
            throw Wrong(name, nameof(RootDirectory), "must name a directory");
        if (name is "." or "..")
        {
            throw new OrleansConfigurationException(
                "A storage in files cannot have the name \"" + name + "\", which no directory can have.");
        }

        if (Threads is < 1 or > 256)
            throw Wrong(name, nameof(Threads), "must be between 1 and 256, but is " + Threads);
        if (MaxWaiting < 1)
            throw Wrong(name, nameof(MaxWaiting), "must be at least 1, but is " + MaxWaiting);
        if (LockTimeout < TimeSpan.Zero)
            throw Wrong(name, nameof(LockTimeout), "must not be negative, but is " + LockTimeout);
    }

    private static OrleansConfigurationException Wrong(string name, string option, string rule) =>
        new("FileGrainStorageOptions." + option + " of the storage \"" + name + "\" " + rule + ".");
}
