namespace Orleans;

/// <summary>Checks a part of the configuration before anything starts.</summary>
public interface IConfigurationValidator
{
    /// <summary>Throws when something is wrong.</summary>
    /// <exception cref="Orleans.Runtime.OrleansConfigurationException">The message names the option.</exception>
    void ValidateConfiguration();
}
