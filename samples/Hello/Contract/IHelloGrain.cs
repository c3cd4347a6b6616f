namespace Hello;

public interface IHelloGrain : IGrainWithStringKey
{
    Task<string> Greet(string name);
}
